-- The function that makes stores: empty tables in this schema, with columns of a table whose rows the caller may read,
-- and nothing else. The caller needs no right to make tables. Does nothing if the function exists.
-- It runs as the owner of the schema, which owns the stores. Columns and their types come from the catalog: defaults,
-- constraints and triggers do not come along. The caller's rights are those of the role that was set, or of the login.
-- The description of the store must be that of the table, because other operators find the store by it. The schema in
-- front of a type is not compared: whether format_type writes it depends on the caller's search_path.
-- Calls that create a store wait for each other. Each row has a number of its own (qmon_row): rows may be equal, or
-- have no key.
DO $$
DECLARE
    v_role text := pg_catalog.current_setting('role');
BEGIN
    PERFORM pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('qmon control'));
    PERFORM pg_catalog.set_config('role', pg_catalog.pg_get_userbyid(n.nspowner), true)
    FROM pg_catalog.pg_namespace AS n
    WHERE n.nspname OPERATOR(pg_catalog.=) 'qmon';
    IF pg_catalog.to_regproc('qmon.make_store') IS NULL THEN
        CREATE FUNCTION qmon.make_store(
            p_table pg_catalog.regclass, p_kind text, p_about text, p_structure text, p_columns text[], p_found_by text
        ) RETURNS integer
        LANGUAGE plpgsql SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp
        AS $body$
        DECLARE
            v_caller    name;
            v_about     text;
            v_list      text;
            v_structure jsonb;
            v_count     bigint;
            v_may       boolean;
            v_store     integer;
            v_name      text;
        BEGIN
            v_caller := CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role') END;
            SELECT (
                       SELECT string_agg(CASE WHEN p.part ~ '^[^."\[\]\s]+$' THEN p.part
                                              ELSE '[' || replace(p.part, ']', ']]') || ']' END, '.' ORDER BY p.place)
                       FROM (VALUES (1, CAST(n.nspname AS text)), (2, CAST(c.relname AS text))) AS p(place, part)
                   )
            INTO v_about
            FROM pg_class AS c
            JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE c.oid = p_table
              AND c.relkind IN ('r', 'p')
              AND c.relpersistence <> 't'
              AND n.nspname NOT IN ('qmon', 'pg_catalog', 'information_schema')
              AND has_schema_privilege(v_caller, n.oid, 'USAGE');
            SELECT string_agg(format('%I %s%s', a.attname, format_type(a.atttypid, a.atttypmod),
                                     CASE WHEN a.attcollation <> t.typcollation
                                          THEN format(' COLLATE %I.%I', s.nspname, l.collname) ELSE '' END),
                              ', ' ORDER BY w.place),
                   jsonb_agg(jsonb_build_array(a.attname, format_type(a.atttypid, a.atttypmod)) ORDER BY w.place),
                   count(*),
                   bool_and(has_column_privilege(v_caller, a.attrelid, a.attnum, 'SELECT'))
            INTO v_list, v_structure, v_count, v_may
            FROM unnest(p_columns) WITH ORDINALITY AS w(name, place)
            JOIN pg_attribute AS a
                ON a.attrelid = p_table AND a.attname = w.name AND a.attnum > 0 AND NOT a.attisdropped
            JOIN pg_type AS t ON t.oid = a.atttypid
            LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
            LEFT JOIN pg_namespace AS s ON s.oid = l.collnamespace;
            IF p_kind IS NULL OR p_kind NOT IN ('trash', 'kept') OR v_about IS NULL OR v_about IS DISTINCT FROM p_about
                OR v_may IS NOT TRUE OR v_count IS DISTINCT FROM cardinality(p_columns)
                OR p_found_by IS NULL OR p_found_by <> 'qmon_row' AND NOT p_found_by = ANY (p_columns)
                OR (SELECT jsonb_agg(jsonb_build_array(e.value ->> 0, regexp_replace(e.value ->> 1, '^("([^"]|"")*"|[^".]+)[.]', '')) ORDER BY e.place)
                    FROM jsonb_array_elements(CAST(p_structure AS jsonb)) WITH ORDINALITY AS e(value, place))
                   IS DISTINCT FROM
                   (SELECT jsonb_agg(jsonb_build_array(e.value ->> 0, regexp_replace(e.value ->> 1, '^("([^"]|"")*"|[^".]+)[.]', '')) ORDER BY e.place)
                    FROM jsonb_array_elements(v_structure) WITH ORDINALITY AS e(value, place))
            THEN
                RAISE EXCEPTION 'qmon.make_store: the table does not exist, or the caller may not read its rows or these columns'
                    USING ERRCODE = 'insufficient_privilege';
            END IF;
            PERFORM pg_advisory_xact_lock(hashtext('qmon stores'));
            INSERT INTO qmon.stores (kind, about, structure) VALUES (p_kind, p_about, p_structure)
            RETURNING store INTO v_store;
            v_name := p_kind || '_' || v_store;
            EXECUTE format('CREATE TABLE qmon.%I (qmon_operation text NOT NULL, %s%s, '
                           'qmon_row bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY)', v_name,
                           CASE p_kind WHEN 'trash' THEN 'qmon_trashed_at timestamptz DEFAULT clock_timestamp(), ' ELSE '' END,
                           v_list);
            EXECUTE format('CREATE INDEX ON qmon.%I (qmon_operation, %I)', v_name, p_found_by);
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'qmon_operator') THEN
                EXECUTE format('GRANT SELECT, INSERT, DELETE, UPDATE (qmon_row) ON qmon.%I TO qmon_operator', v_name);
            END IF;
            RETURN v_store;
        END
        $body$;
        COMMENT ON FUNCTION qmon.make_store(pg_catalog.regclass, text, text, text, text[], text)
            IS 'qmon: makes a table for the rows that an undo needs';
        REVOKE ALL ON FUNCTION qmon.make_store(pg_catalog.regclass, text, text, text, text[], text) FROM PUBLIC;
        IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) 'qmon_operator') THEN
            GRANT EXECUTE ON FUNCTION qmon.make_store(pg_catalog.regclass, text, text, text, text[], text) TO qmon_operator;
        END IF;
    END IF;
    PERFORM pg_catalog.set_config('role', v_role, true);
END
$$
