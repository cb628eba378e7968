create collation app_hidden.unicode (provider = icu, deterministic = t, locale = 'und');
comment on collation app_hidden.unicode is 'The root of Unicode (CLDR), for case: the same on every server, whatever the locale of the database.';
