create type app_public.delivery_outcome as enum ('PENDING', 'DELIVERED', 'FAILED');
comment on type app_public.delivery_outcome is '@value PENDING It was not attempted yet, or is attempted again.
@value DELIVERED The receiver has taken it.
@value FAILED A dead letter: it was attempted for three days. It is attempted again when the client asks for that.
What became of a delivery.';
grant usage on type app_public.delivery_outcome to graph_admin;
grant usage on type app_public.delivery_outcome to graph_app;
grant usage on type app_public.delivery_outcome to graph_basic;
grant usage on type app_public.delivery_outcome to graph_user;
grant usage on type app_public.delivery_outcome to graph_worker;
grant usage on type app_public.delivery_outcome to public;
