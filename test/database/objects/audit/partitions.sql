create view audit.partitions with (security_invoker=true) as
 SELECT partition,
    since,
    until
   FROM audit.partitions_of('audit.changes'::regclass) partitions_of(partition, since, until);
comment on view audit.partitions is 'The partitions of the history and the times that each is for; the default partition has neither bound.';

grant select on audit.partitions to graph_admin;
grant select on audit.partitions to graph_auditor;
