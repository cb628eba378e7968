create view audit.partitions with (security_invoker=true) as
 SELECT c.oid::regclass AS partition,
    (regexp_match(bound.bound, 'FROM \(''([^'']+)''\)'::text))[1]::timestamp with time zone AS since,
    (regexp_match(bound.bound, 'TO \(''([^'']+)''\)'::text))[1]::timestamp with time zone AS until
   FROM pg_inherits i
     JOIN pg_class c ON c.oid = i.inhrelid
     CROSS JOIN LATERAL pg_get_expr(c.relpartbound, c.oid) bound(bound)
  WHERE i.inhparent = 'audit.changes'::regclass::oid;
comment on view audit.partitions is 'The partitions of the history and the times that each is for; the default partition has neither bound.';

grant select on audit.partitions to graph_admin;
grant select on audit.partitions to graph_auditor;
