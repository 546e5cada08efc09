-- Sets up a session of qmon, or with :local, one transaction of it.
-- :local                true or false
-- :statement_timeout    milliseconds as text, 0 for none, NULL for the server's own
-- :lock_timeout         the same
-- :transaction_timeout  the same: idle in an open transaction
-- :read_only            on or off
-- :application          the application name
-- :schema_owner         a role that may own the schema qmon; empty: none. Always set, so that no ALTER DATABASE … SET counts
-- :repeats              true: the same statements run repeatedly, each through an index. The server may keep their
--                       plans, so it must avoid plans that suit small tables only: reading the whole table, sorting.
--                       A statement that must read a whole table is not worth compiling, whatever cost is estimated
-- > done                true
SELECT set_config('statement_timeout', COALESCE(s.statement_timeout, current_setting('statement_timeout')), s.local) IS NOT NULL
       AND set_config('lock_timeout', COALESCE(s.lock_timeout, current_setting('lock_timeout')), s.local) IS NOT NULL
       AND set_config('idle_in_transaction_session_timeout',
                      COALESCE(s.transaction_timeout, current_setting('idle_in_transaction_session_timeout')),
                      s.local) IS NOT NULL
       AND set_config('application_name', s.application, s.local) IS NOT NULL
       AND set_config('qmon.schema_owner', s.schema_owner, s.local) IS NOT NULL
       AND set_config('timezone', 'UTC', s.local) IS NOT NULL
       AND set_config('plan_cache_mode', CASE WHEN s.repeats THEN 'auto' ELSE 'force_custom_plan' END, s.local) IS NOT NULL
       AND CASE WHEN s.repeats THEN
               set_config('enable_seqscan', 'off', s.local) IS NOT NULL
               AND set_config('enable_bitmapscan', 'off', s.local) IS NOT NULL
               AND set_config('enable_sort', 'off', s.local) IS NOT NULL
               AND set_config('jit', 'off', s.local) IS NOT NULL
           ELSE true END
       AND set_config('extra_float_digits', '1', s.local) IS NOT NULL
       -- In such a database a text may be any bytes. With another encoding the server refuses to send some of them.
       AND CASE WHEN current_setting('server_encoding') = 'SQL_ASCII'
                THEN set_config('client_encoding', 'SQL_ASCII', s.local) IS NOT NULL
                ELSE true END
       -- a pooler may have dropped those that a connection begins with: see _PINNED in qmon/engines/postgres/postgres_engine.py
       AND set_config('standard_conforming_strings', 'on', s.local) IS NOT NULL
       AND set_config('transform_null_equals', 'off', s.local) IS NOT NULL
       AND set_config('array_nulls', 'on', s.local) IS NOT NULL
       AND set_config('bytea_output', 'hex', s.local) IS NOT NULL
       AND set_config('DateStyle', 'ISO, MDY', s.local) IS NOT NULL
       AND set_config('IntervalStyle', 'postgres', s.local) IS NOT NULL
       AND set_config('quote_all_identifiers', 'off', s.local) IS NOT NULL
       -- A view runs functions of its owner. Watching reads no views of other roles; newer servers can refuse them.
       AND CASE WHEN s.read_only = 'on' AND current_setting('restrict_nonsystem_relation_kind', true) IS NOT NULL
                THEN set_config('restrict_nonsystem_relation_kind', 'view', s.local) IS NOT NULL
                ELSE true END
       AND CASE WHEN NOT s.local THEN set_config('default_transaction_read_only', s.read_only, false) IS NOT NULL
                WHEN s.read_only = 'on' THEN set_config('transaction_read_only', 'on', true) IS NOT NULL
                ELSE true END AS done
FROM (SELECT CAST(:local AS boolean)            AS local,
             CAST(:statement_timeout AS text)   AS statement_timeout,
             CAST(:lock_timeout AS text)        AS lock_timeout,
             CAST(:transaction_timeout AS text) AS transaction_timeout,
             CAST(:read_only AS text)           AS read_only,
             CAST(:application AS text)         AS application,
             CAST(:schema_owner AS text)        AS schema_owner,
             CAST(:repeats AS boolean)          AS repeats
      OFFSET 0) AS s
