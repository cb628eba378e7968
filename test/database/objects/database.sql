alter default privileges revoke execute on functions from public;
