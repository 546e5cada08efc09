-- Reasons not to trust qmon's own schema: each object that differs from the object that qmon creates, or that an
-- untrusted role may change. No row means that the schema is trusted or does not exist.
-- The schema's owner must be our role, a superuser, or the role that the configuration names (qmon.schema_owner, which
-- every session of qmon sets). Membership in a role is no reason to trust this role, because other roles decide who its
-- members are. All objects in the schema must belong to the owner of the schema, and no role except ours may create
-- objects or triggers in it. Otherwise that role could replace an object later.
-- > object  the object
-- > problem its problem
-- > advice  what to do
WITH home AS MATERIALIZED (
    SELECT n.oid, n.nspowner, n.nspacl, pg_catalog.pg_get_userbyid(n.nspowner) AS owner,
           coalesce(r.rolsuper, false)
               OR pg_catalog.pg_get_userbyid(n.nspowner) = current_user
               OR pg_catalog.pg_get_userbyid(n.nspowner) = pg_catalog.current_setting('qmon.schema_owner', true) AS trusted
    FROM pg_catalog.pg_namespace AS n
    LEFT JOIN pg_catalog.pg_roles AS r ON r.oid = n.nspowner
    WHERE n.nspname = 'qmon'
),
things AS MATERIALIZED (
    SELECT c.oid, pg_catalog.format('qmon.%I', c.relname) AS object, c.relkind, c.relname, c.relowner, c.relacl,
           c.relrowsecurity, c.relhassubclass,
           c.relname IN ('queues', 'operations', 'stores', 'pauses') OR c.relname ~ '^(trash|kept)_[0-9]+$' AS is_table,
           c.relname ~ '^gate_[0-9a-f]+$' AS is_gate
    FROM home AS h
    JOIN pg_catalog.pg_class AS c ON c.relnamespace = h.oid AND c.relkind NOT IN ('i', 'I', 't')
),
found AS (
    SELECT 1 AS place, 'the schema' AS object,
           pg_catalog.format('is owned by %I, which is neither this role nor a superuser', h.owner) AS problem,
           pg_catalog.format('if you trust that role, write schema_owner = "%s" for this target in qmon.toml', h.owner)
               AS advice
    FROM home AS h
    WHERE NOT h.trusted
    UNION ALL
    SELECT 2, t.object,
           pg_catalog.format('is a %s, owned by %I',
                             CASE t.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view'
                                            WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
                                            WHEN 'S' THEN 'sequence' ELSE 'type' END,
                             pg_catalog.pg_get_userbyid(t.relowner)),
           'drop it if it is not needed'
    FROM home AS h
    CROSS JOIN things AS t
    WHERE t.relowner <> h.nspowner
       OR t.is_table AND t.relkind <> 'r'
       OR t.is_gate AND t.relkind <> 'S'
    UNION ALL
    SELECT 3, pg_catalog.format('qmon.%I', p.proname),
           pg_catalog.format('is a function, owned by %I', pg_catalog.pg_get_userbyid(p.proowner)),
           'drop it if it is not needed'
    FROM home AS h
    JOIN pg_catalog.pg_proc AS p ON p.pronamespace = h.oid AND p.proowner <> h.nspowner
    UNION ALL
    SELECT 4, t.object, pg_catalog.format('has the trigger %I', g.tgname), 'drop the trigger'
    FROM things AS t
    JOIN pg_catalog.pg_trigger AS g ON g.tgrelid = t.oid AND NOT g.tgisinternal
    UNION ALL
    SELECT 4, t.object, pg_catalog.format('has the rule %I', r.rulename), 'drop the rule'
    FROM things AS t
    JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = t.oid
    WHERE t.relkind = 'r'
    UNION ALL
    SELECT 4, t.object, 'has row-level security', 'switch it off and drop its policies'
    FROM things AS t
    WHERE t.relrowsecurity OR EXISTS (SELECT FROM pg_catalog.pg_policy AS p WHERE p.polrelid = t.oid)
    UNION ALL
    SELECT 4, t.object, 'is part of an inheritance tree', 'let no table inherit from it'
    FROM things AS t
    WHERE EXISTS (SELECT FROM pg_catalog.pg_inherits AS i WHERE t.oid IN (i.inhparent, i.inhrelid))
    UNION ALL
    SELECT 4, t.object, pg_catalog.format('calls %s in a default or constraint',
                                          pg_catalog.pg_describe_object(d.refclassid, d.refobjid, 0)), 'remove that default or constraint'
    FROM things AS t
    JOIN pg_catalog.pg_depend AS d
        ON d.refclassid IN (CAST('pg_catalog.pg_proc' AS pg_catalog.regclass), CAST('pg_catalog.pg_operator' AS pg_catalog.regclass))
        AND (
            d.classid = CAST('pg_catalog.pg_attrdef' AS pg_catalog.regclass)
                AND EXISTS (SELECT FROM pg_catalog.pg_attrdef AS a WHERE a.oid = d.objid AND a.adrelid = t.oid)
            OR d.classid = CAST('pg_catalog.pg_constraint' AS pg_catalog.regclass)
                AND EXISTS (SELECT FROM pg_catalog.pg_constraint AS k WHERE k.oid = d.objid AND k.conrelid = t.oid)
            OR d.classid = CAST('pg_catalog.pg_class' AS pg_catalog.regclass)
                AND EXISTS (SELECT FROM pg_catalog.pg_index AS x WHERE x.indexrelid = d.objid AND x.indrelid = t.oid)
        )
    WHERE t.relkind = 'r'
    UNION ALL
    SELECT 5, 'the schema', pg_catalog.format('lets %s create objects in it', a.name),
           pg_catalog.format('REVOKE CREATE ON SCHEMA qmon FROM %s', a.name)
    FROM home AS h
    CROSS JOIN LATERAL (
        SELECT CASE x.grantee WHEN 0 THEN 'PUBLIC'
                              ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(x.grantee)) END AS name
        FROM pg_catalog.aclexplode(h.nspacl) AS x
        WHERE x.privilege_type = 'CREATE' AND x.grantee <> h.nspowner
            AND pg_catalog.pg_get_userbyid(x.grantee) <> current_user
    ) AS a
    UNION ALL
    SELECT 5, t.object, pg_catalog.format('lets %s create triggers on it', a.name),
           pg_catalog.format('REVOKE TRIGGER ON %s FROM %s', t.object, a.name)
    FROM home AS h
    CROSS JOIN things AS t
    CROSS JOIN LATERAL (
        SELECT CASE x.grantee WHEN 0 THEN 'PUBLIC'
                              ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(x.grantee)) END AS name
        FROM pg_catalog.aclexplode(t.relacl) AS x
        WHERE x.privilege_type = 'TRIGGER' AND x.grantee <> h.nspowner
            AND pg_catalog.pg_get_userbyid(x.grantee) <> current_user
    ) AS a
    WHERE t.relkind = 'r'
)
SELECT CAST(f.object AS text) AS object, CAST(f.problem AS text) AS problem, CAST(f.advice AS text) AS advice
FROM found AS f
ORDER BY f.place, f.object, f.problem
LIMIT 1
