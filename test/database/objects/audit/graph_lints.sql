create view audit.graph_lints with (security_invoker=true) as
 WITH schema AS (
         SELECT 'app_public'::regnamespace
        ), lines AS MATERIALIZED (
         SELECT comment_lines.kind,
            comment_lines.object,
            comment_lines.relation_id,
            comment_lines.object_id,
            comment_lines.is_public,
            comment_lines.tag,
            comment_lines.value,
            comment_lines.is_tag
           FROM audit.comment_lines
        ), tables AS (
         SELECT c.oid,
            c.oid::regclass::text,
            obj_description(c.oid, 'pg_class'::name) AS comment
           FROM pg_class c
          WHERE c.relnamespace = ((( SELECT schema.oid
                   FROM schema))::oid) AND (c.relkind = ANY (ARRAY['r'::"char", 'p'::"char", 'v'::"char", 'm'::"char", 'f'::"char"])) AND NOT c.relispartition
        ), functions AS (
         SELECT p.oid,
            p.oid::regprocedure::text AS object,
            p.provolatile,
            p.prokind,
            p.provariadic,
            p.prorettype,
            (ARRAY( SELECT unnest(COALESCE(p.proargmodes, '{}'::"char"[])) AS unnest
                INTERSECT
                 SELECT unnest('{o,b,t}'::"char"[]) AS unnest)) <> '{}'::"char"[] AS has_outputs,
            (EXISTS ( SELECT
                   FROM lines l_1
                  WHERE l_1.object_id = p.oid AND l_1.kind = 'function'::text AND l_1.is_tag AND l_1.tag = 'mutation'::text)) AS is_mutation,
            (EXISTS ( SELECT
                   FROM lines l_1
                  WHERE l_1.object_id = p.oid AND l_1.kind = 'function'::text AND l_1.is_tag AND l_1.tag = 'behavior'::text)) AS is_told,
            (EXISTS ( SELECT
                   FROM pg_proc other
                  WHERE other.pronamespace = p.pronamespace AND other.proname = p.proname AND other.oid <> p.oid)) AS is_overloaded,
            (EXISTS ( SELECT
                   FROM unnest(COALESCE(p.proallargtypes, p.proargtypes::oid[])) argument(argument)
                     JOIN pg_type t ON t.oid = argument.argument
                  WHERE t.typtype = 'p'::"char")) AS has_pseudo_type,
            (EXISTS ( SELECT
                   FROM pg_type t
                     JOIN pg_class c ON c.oid = t.typrelid
                  WHERE t.oid = p.proargtypes[0] AND c.relnamespace = p.pronamespace AND NOT c.relispartition)) AS is_of_a_row,
            p.proname
           FROM pg_proc p
          WHERE p.pronamespace = ((( SELECT schema.oid
                   FROM schema))::oid) AND (p.prorettype <> ALL (ARRAY['trigger'::regtype::oid, 'event_trigger'::regtype::oid])) AND NOT (EXISTS ( SELECT
                   FROM pg_depend d
                  WHERE d.classid = 'pg_proc'::regclass::oid AND d.objid = p.oid AND (d.deptype = ANY (ARRAY['e'::"char", 'i'::"char"]))))
        ), tags AS (
         SELECT l_1.kind,
            l_1.object,
            l_1.relation_id,
            l_1.object_id,
            l_1.is_public,
            l_1.tag,
            l_1.value,
            l_1.is_tag,
            s.kinds
           FROM lines l_1
             JOIN audit.smart_tags s ON s.tag = regexp_replace(l_1.tag, '^arg\d+(modifier|variant)$'::text, 'arg0\1'::text)
          WHERE l_1.is_tag
        ), foreign_keys AS (
         SELECT t.object,
            t.relation_id,
            t.value,
            spec.spec,
            ( SELECT array_agg(
                        CASE
                            WHEN name.name ^@ '"'::text THEN TRIM(BOTH '"'::text FROM name.name)
                            ELSE lower(name.name)
                        END) AS array_agg
                   FROM regexp_split_to_table(TRIM(BOTH FROM spec.spec[1]), '\s*,\s*'::text) name(name)) AS columns,
            ( SELECT array_agg(
                        CASE
                            WHEN name.name ^@ '"'::text THEN TRIM(BOTH '"'::text FROM name.name)
                            ELSE lower(name.name)
                        END) AS array_agg
                   FROM regexp_split_to_table(TRIM(BOTH FROM spec.spec[4]), '\s*,\s*'::text) name(name)) AS their_columns,
            ( SELECT c.oid
                   FROM pg_class c
                     JOIN pg_namespace n ON n.oid = c.relnamespace
                  WHERE c.relname =
                        CASE
                            WHEN COALESCE(spec.spec[3], spec.spec[2]) ^@ '"'::text THEN TRIM(BOTH '"'::text FROM COALESCE(spec.spec[3], spec.spec[2]))
                            ELSE lower(COALESCE(spec.spec[3], spec.spec[2]))
                        END AND n.nspname =
                        CASE
                            WHEN spec.spec[3] IS NULL THEN 'app_public'::text
                            WHEN spec.spec[2] ^@ '"'::text THEN TRIM(BOTH '"'::text FROM spec.spec[2])
                            ELSE lower(spec.spec[2])
                        END) AS their_id
           FROM tags t
             CROSS JOIN LATERAL regexp_match(split_part(t.value, '|'::text, 1), '^\(([^()]+)\) references ("[^"]+"|\w+)(?:\.("[^"]+"|\w+))?(?:\s*\(([^()]+)\))?\s*$'::text, 'i'::text) spec(spec)
          WHERE t.tag = 'foreignKey'::text AND t.kind = 'table'::text AND spec.spec IS NOT NULL
        ), filters AS (
         SELECT t.object,
            t.value,
            a.atttypid,
            COALESCE((regexp_split_to_array(TRIM(BOTH FROM t.value), '\s+'::text))[2], 'anyOf'::text) AS operator
           FROM tags t
             JOIN pg_attribute a ON a.attrelid = t.relation_id AND format('%s.%I'::text, a.attrelid::regclass, a.attname) = t.object
          WHERE t.tag = 'filter'::text AND t.kind = 'column'::text AND t.is_public
        ), compared AS (
         WITH RECURSIVE parts(whole, oid, is_whole) AS (
                 SELECT f.atttypid,
                    f.atttypid,
                    true AS "?column?"
                   FROM filters f
                UNION
                 SELECT p.whole,
                    part.oid,
                    p.is_whole AND t.typtype = 'd'::"char"
                   FROM parts p
                     JOIN pg_type t USING (oid)
                     CROSS JOIN LATERAL ( SELECT a.atttypid
                           FROM pg_attribute a
                          WHERE t.typtype = 'c'::"char" AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
                        UNION ALL
                         SELECT
                                CASE
                                    WHEN t.typtype = 'd'::"char" THEN t.typbasetype
                                    WHEN t.typcategory = 'A'::"char" AND t.typarray = 0::oid THEN t.typelem
                                    ELSE NULL::oid
                                END AS "case") part(oid)
                  WHERE part.oid IS NOT NULL
                )
         SELECT parts.whole,
            parts.oid,
            parts.is_whole
           FROM parts
        ), lints(name, level, object, detail, remedy) AS (
         SELECT 'unknown_tag'::text AS "?column?",
            'error'::text AS "?column?",
            l_1.object,
            format('says @%s, which is no smart tag of this graph'::text, l_1.tag) AS format,
            COALESCE(( SELECT format('Did you mean @%s?'::text, s.tag) AS format
                   FROM audit.smart_tags s
                     CROSS JOIN LATERAL ( SELECT max(n.n) AS length
                           FROM generate_series(3, length(s.tag)) n(n)
                          WHERE "left"(s.tag, n.n) = "left"(l_1.tag, n.n)) common
                  WHERE common.length IS NOT NULL
                  ORDER BY common.length DESC, (length(s.tag))
                 LIMIT 1), 'Take it away: it does nothing. audit.smart_tags has those that do.'::text) AS "coalesce"
           FROM lines l_1
          WHERE l_1.is_tag AND NOT (EXISTS ( SELECT
                   FROM audit.smart_tags s
                  WHERE s.tag = regexp_replace(l_1.tag, '^arg\d+(modifier|variant)$'::text, 'arg0\1'::text)))
        UNION ALL
         SELECT 'tag_without_effect'::text,
            'error'::text,
            l_1.object,
            format('says @%s as text, in or below its description'::text, l_1.tag) AS format,
            'Tags come first, each on a line of its own and with a blank before its value; between those of a @foreignKey stands |.'::text
           FROM lines l_1
          WHERE NOT l_1.is_tag AND (l_1.tag IN ( SELECT smart_tags.tag
                   FROM audit.smart_tags))
        UNION ALL
         SELECT 'tag_without_effect'::text,
            'error'::text,
            t.object,
            format('says @%s, which does nothing on a %s'::text, t.tag, t.kind) AS format,
            format('It belongs to a %s.'::text, array_to_string(t.kinds, ', or a '::text)) AS format
           FROM tags t
          WHERE t.kind <> ALL (t.kinds)
        UNION ALL
         SELECT 'tag_without_effect'::text,
            'error'::text,
            t.object,
            format('says @%s outside of app_public, which the graph is made of'::text, t.tag) AS format,
            'Put it into app_public, or take the tag away.'::text
           FROM tags t
          WHERE NOT t.is_public AND (t.kind = ANY (t.kinds)) AND t.tag <> 'argument'::text
        UNION ALL
         SELECT 'tag_without_effect'::text,
            'error'::text,
            t.object,
            format('says @param %s, which names none of its parameters'::text, t.value) AS format,
            format('@param [{Type}] <argument> <description>; its arguments are %s.'::text, COALESCE(NULLIF(array_to_string(p.proargnames, ', '::text), ''::text), 'none'::text)) AS format
           FROM tags t
             JOIN pg_proc p ON p.oid = t.object_id
             CROSS JOIN LATERAL regexp_match(t.value, '^(?:\{[^{}]*\}\s+)?(\w+)'::text) named(named)
          WHERE t.tag = 'param'::text AND t.kind = 'function'::text AND (named.named[1] ~ '^arg[0-9]+$'::text) IS NOT TRUE AND NOT (EXISTS ( SELECT
                   FROM unnest(p.proargnames) argument(argument)
                  WHERE replace(lower(argument.argument), '_'::text, ''::text) = replace(lower(named.named[1]), '_'::text, ''::text)))
        UNION ALL
         SELECT 'tag_without_effect'::text,
            'error'::text,
            f.object,
            format('says @filter %s, %s'::text, f.value, f.reason) AS format,
            '@filter <argument>, on a column whose rows are to be found by it, or @filter <argument> {<type>} on a key.'::text
           FROM ( SELECT t.object,
                    t.value,
                        CASE
                            WHEN t.kind = 'constraint'::text AND NOT (EXISTS ( SELECT
                               FROM pg_constraint k
                              WHERE k.oid = t.object_id AND (k.contype = ANY (ARRAY['p'::"char", 'u'::"char"])))) THEN 'on a constraint that is no key'::text
                            WHEN t.value !~ '\w'::text THEN 'which names no argument'::text
                            WHEN t.value !~ '^\s*[_A-Za-z]\w*'::text THEN 'which is no name in GraphQL'::text
                            WHEN t.object ~ '\.organization_id$'::text THEN 'though the graph does not show that column'::text
                            WHEN split_part(TRIM(BOTH FROM t.value), ' '::text, 1) = ANY (ARRAY['first'::text, 'last'::text, 'offset'::text, 'before'::text, 'after'::text, 'orderBy'::text, 'condition'::text, 'ids'::text, 'externalIdentifiers'::text]) THEN 'an argument that connections have already'::text
                            WHEN count(*) OVER (PARTITION BY t.relation_id, (split_part(TRIM(BOTH FROM t.value), ' '::text, 1))) > 1 THEN 'as another column or key of the table does'::text
                            ELSE NULL::text
                        END AS reason
                   FROM tags t
                  WHERE t.tag = 'filter'::text AND (t.kind = ANY (ARRAY['column'::text, 'constraint'::text])) AND t.is_public) f
          WHERE f.reason IS NOT NULL
        UNION ALL
         SELECT 'tag_without_effect'::text,
            'error'::text,
            f.object,
            format('says @filter %s, which cannot compare values of %s'::text, f.value, format_type(f.atttypid, NULL::integer)) AS format,
            '@filter <argument> isNull, or a @filter on a column of a type that has the operator.'::text
           FROM filters f
          WHERE f.operator <> 'isNull'::text AND (EXISTS ( SELECT
                   FROM compared c
                     JOIN pg_type t USING (oid)
                  WHERE c.whole = f.atttypid AND
                        CASE
                            WHEN t.typtype = 'b'::"char" AND t.typcategory = 'A'::"char" AND t.typarray = 0::oid THEN c.is_whole
                            ELSE t.typtype = 'b'::"char" AND NOT (EXISTS ( SELECT
                               FROM pg_opclass o
                                 JOIN pg_am m ON m.oid = o.opcmethod
                              WHERE o.opcdefault AND (m.amname = 'btree'::name OR m.amname = 'hash'::name AND (f.operator = ANY (ARRAY['anyOf'::text, 'is'::text]))) AND (o.opcintype = t.oid OR (EXISTS ( SELECT
                                       FROM pg_cast k
                                      WHERE k.castsource = t.oid AND k.casttarget = o.opcintype AND k.castmethod = 'b'::"char" AND k.castcontext = 'i'::"char"))) AND (NOT c.is_whole OR (EXISTS ( SELECT
                                       FROM pg_amop a
                                         JOIN pg_operator p ON p.oid = a.amopopr
                                      WHERE a.amopfamily = o.opcfamily AND p.oprname =
 CASE f.operator
  WHEN 'from'::text THEN '>='::text
  WHEN 'until'::text THEN '<'::text
  ELSE '='::text
 END)))))
                        END))
        UNION ALL
         SELECT 'tag_without_effect'::text,
            'error'::text,
            t.object,
            'says @foreignKey, and not what it refers to'::text,
            '@foreignKey (<columns>) references app_public.<table> (<columns>)'::text
           FROM tags t
          WHERE t.tag = 'foreignKey'::text AND t.kind = 'table'::text AND NOT (EXISTS ( SELECT
                   FROM foreign_keys k
                  WHERE k.object = t.object AND k.value = t.value))
        UNION ALL
         SELECT 'tag_without_effect'::text,
            'error'::text,
            f.object,
            format('says @foreignKey %s, %s'::text, split_part(f.value, '|'::text, 1), f.reason) AS format,
            '@foreignKey (<columns>) references app_public.<table> (<columns>)'::text
           FROM ( SELECT k.object,
                    k.value,
                        CASE
                            WHEN k.their_id IS NULL THEN 'and there is no such table'::text
                            WHEN NOT (k.their_id IN ( SELECT tables.oid
                               FROM tables)) THEN 'which is not in app_public'::text
                            WHEN (EXISTS ( SELECT
                               FROM unnest(k.columns) named(named)
                              WHERE NOT (EXISTS ( SELECT
                                       FROM pg_attribute a
                                      WHERE a.attrelid = k.relation_id AND a.attname = named.named AND a.attnum > 0 AND NOT a.attisdropped))
                            UNION ALL
                             SELECT
                               FROM unnest(k.their_columns) named(named)
                              WHERE NOT (EXISTS ( SELECT
                                       FROM pg_attribute a
                                      WHERE a.attrelid = k.their_id AND a.attname = named.named AND a.attnum > 0 AND NOT a.attisdropped)))) THEN 'and there is no such column'::text
                            WHEN k.their_columns IS NOT NULL AND cardinality(k.columns) <> cardinality(k.their_columns) THEN 'with more columns on one side'::text
                            WHEN k.their_columns IS NOT NULL AND NOT (EXISTS ( SELECT
                               FROM pg_constraint u
                              WHERE u.conrelid = k.their_id AND (u.contype = ANY (ARRAY['p'::"char", 'u'::"char"])) AND k.their_columns @> (ARRAY( SELECT a.attname::text AS attname
                                       FROM pg_attribute a
                                      WHERE a.attrelid = u.conrelid AND (a.attnum = ANY (u.conkey)))) AND cardinality(u.conkey) = cardinality(k.their_columns))) AND NOT (EXISTS ( SELECT
                               FROM tags u
                                 CROSS JOIN LATERAL regexp_split_to_array(TRIM(BOTH FROM split_part(u.value, '|'::text, 1)), ','::text) named(named)
                              WHERE u.relation_id = k.their_id AND u.kind = 'table'::text AND (u.tag = ANY (ARRAY['primaryKey'::text, 'unique'::text])) AND named.named @> k.their_columns AND named.named <@ k.their_columns)) THEN 'whose columns are no key there'::text
                            ELSE NULL::text
                        END AS reason
                   FROM foreign_keys k) f
          WHERE f.reason IS NOT NULL
        UNION ALL
         SELECT 'function_not_in_graph'::text,
                CASE
                    WHEN f.is_mutation THEN 'error'::text
                    ELSE 'warning'::text
                END AS "case",
            f.object,
            f.reason,
            f.remedy
           FROM ( SELECT functions.oid,
                    functions.object,
                    functions.provolatile,
                    functions.prokind,
                    functions.provariadic,
                    functions.prorettype,
                    functions.has_outputs,
                    functions.is_mutation,
                    functions.is_told,
                    functions.is_overloaded,
                    functions.has_pseudo_type,
                    functions.is_of_a_row,
                    functions.proname,
                        CASE
                            WHEN functions.prokind <> 'f'::"char" THEN 'is no function, and so not in the graph'::text
                            WHEN functions.is_overloaded THEN 'shares its name with another function: the graph has neither'::text
                            WHEN functions.provariadic <> 0::oid THEN 'is VARIADIC, which the graph leaves out'::text
                            WHEN functions.has_pseudo_type OR functions.prorettype = 'record'::regtype::oid AND NOT functions.has_outputs THEN 'has no types of its own, and so is not in the graph'::text
                            WHEN functions.proname::text ^@ '__'::text THEN 'begins with __, which the graph leaves out'::text
                            WHEN functions.is_mutation AND functions.provolatile <> 'v'::"char" THEN 'says @mutation and is not volatile'::text
                            WHEN NOT functions.is_mutation AND NOT functions.is_told AND functions.provolatile = 'v'::"char" THEN 'is volatile and says no @mutation: it is not in the graph'::text
                            WHEN NOT functions.is_mutation AND NOT functions.is_told AND NOT functions.is_of_a_row THEN 'has no row of app_public as its first parameter: it is no field of the graph'::text
                            ELSE NULL::text
                        END AS reason,
                        CASE
                            WHEN functions.prokind <> 'f'::"char" THEN 'Write a function.'::text
                            WHEN functions.is_overloaded THEN 'Give each a name of its own.'::text
                            WHEN functions.provariadic <> 0::oid THEN 'Take an array instead.'::text
                            WHEN functions.proname::text ^@ '__'::text THEN 'Give it another name, or put it into app_hidden.'::text
                            WHEN functions.is_mutation THEN 'alter function … volatile, or take @mutation away.'::text
                            ELSE 'Say @mutation in its comment, make it a field of a row, say @behavior -*, or put it into app_hidden.'::text
                        END AS remedy
                   FROM functions) f
          WHERE f.reason IS NOT NULL
        UNION ALL
         SELECT 'foreign_key_without_index'::text,
            'warning'::text,
            format('%s on %s'::text, k.conname, k.conrelid::regclass) AS format,
            'has only indexes of a part of the rows, and so no field that leads back'::text,
            'create index on … (its columns first), without where'::text
           FROM pg_constraint k
          WHERE k.contype = 'f'::"char" AND (k.conrelid IN ( SELECT tables.oid
                   FROM tables)) AND (k.confrelid IN ( SELECT tables.oid
                   FROM tables)) AND (EXISTS ( SELECT
                   FROM pg_index i
                  WHERE i.indrelid = k.conrelid AND i.indpred IS NOT NULL AND (i.indkey::smallint[])[0:i.indnkeyatts - 1] @> k.conkey)) AND NOT (EXISTS ( SELECT
                   FROM pg_index i
                  WHERE i.indrelid = k.conrelid AND i.indpred IS NULL AND (i.indkey::smallint[])[0:i.indnkeyatts - 1] @> k.conkey))
        UNION ALL
         SELECT 'enum_values_of_one_name'::text,
            'error'::text,
            t.oid::regtype::text,
            format('has the values %s, which have one name in the graph: it cannot be built'::text, string_agg(quote_literal(e.enumlabel::text), ' and '::text ORDER BY e.enumsortorder)) AS format,
            'alter type … rename value … to …'::text
           FROM pg_enum e
             JOIN pg_type t ON t.oid = e.enumtypid
          WHERE (t.typnamespace = ((( SELECT schema.oid
                   FROM schema))::oid) OR (EXISTS ( SELECT
                   FROM pg_attribute a
                     JOIN tables ON tables.oid = a.attrelid
                  WHERE (a.atttypid = ANY (ARRAY[t.oid, t.typarray])) AND a.attnum > 0)) OR (EXISTS ( SELECT
                   FROM functions
                     JOIN pg_proc p USING (oid)
                  WHERE (p.prorettype = ANY (ARRAY[t.oid, t.typarray])) OR ARRAY[t.oid, t.typarray] && COALESCE(p.proallargtypes, p.proargtypes::oid[])))) AND e.enumlabel !~ '^(?:[<>!]=|<>|!?~~|!~|[^\w\s])$'::text
          GROUP BY t.oid, (regexp_replace(e.enumlabel::text, '[^A-Za-z0-9_]'::text, '_'::text, 'g'::text))
         HAVING count(*) > 1
        UNION ALL
         SELECT 'key_without_id'::text,
            'warning'::text,
            tables.name,
            format('has %I in its key, of the type %s, of which no id can be made'::text, a.attname, format_type(a.atttypid, NULL::integer)) AS format,
            'alter table … add primary key (…) of texts, numbers, times, UUIDs or enums'::text
           FROM tables
             JOIN pg_index i ON i.indrelid = tables.oid AND i.indisprimary
             JOIN pg_attribute a ON a.attrelid = tables.oid AND (a.attnum = ANY (i.indkey::smallint[]))
             CROSS JOIN LATERAL ( WITH RECURSIVE types(oid, base) AS (
                         SELECT t_1.oid,
                            t_1.typbasetype
                           FROM pg_type t_1
                          WHERE t_1.oid = a.atttypid
                        UNION ALL
                         SELECT t_1.oid,
                            t_1.typbasetype
                           FROM types types_1
                             JOIN pg_type t_1 ON t_1.oid = types_1.base
                        )
                 SELECT types.oid
                   FROM types
                  WHERE types.base = 0::oid) base
             JOIN pg_type t ON t.oid = base.oid
          WHERE (t.typcategory <> ALL (ARRAY['N'::"char", 'S'::"char", 'B'::"char", 'D'::"char", 'E'::"char", 'I'::"char"])) AND (t.oid <> ALL (ARRAY['uuid'::regtype::oid, 'macaddr'::regtype::oid, 'macaddr8'::regtype::oid, '"char"'::regtype::oid]))
        UNION ALL
         SELECT 'no_comment'::text,
            'warning'::text,
            tables.name,
            'has no description'::text,
            'comment on … is ''…'', which clients read'::text
           FROM tables
          WHERE COALESCE(regexp_replace(tables.comment, '^(\s*@[^\n]*(\n|$))*'::text, ''::text), ''::text) !~ '\S'::text
        )
 SELECT name,
    level,
    object,
    detail,
    remedy COLLATE "default" AS remedy
   FROM lints l
  WHERE NOT (EXISTS ( SELECT
           FROM audit.accepted a
          WHERE a.kind = l.name AND a.object = l.object));
comment on view audit.graph_lints is 'What the graph ignores of the schema and its comments, or cannot honour; empty when all is well.';
comment on column audit.graph_lints.level is '`error`: the graph is not what the migration says. `warning`: it may be meant so.';

grant select on audit.graph_lints to graph_admin;
grant select on audit.graph_lints to graph_auditor;
