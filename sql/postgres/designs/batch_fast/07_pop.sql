-- Pop one message: a batch of one.
-- {pop}       the function
-- {pop_batch} function: pop a batch
CREATE FUNCTION {pop}() RETURNS TABLE (
    id bigint, payload text, attempt integer, title text, queue_date_time timestamptz
)
LANGUAGE plpgsql ROWS 1
SET search_path = pg_catalog, pg_temp
AS $qmon_body$
BEGIN
    RETURN QUERY SELECT b.* FROM {pop_batch}(1) AS b;
END
$qmon_body$;
