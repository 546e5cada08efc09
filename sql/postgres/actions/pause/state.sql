-- Whether our role may set a switch, and the switch's value.
-- {switch}   the sequence that holds the end
-- > may_set  our role may set it
-- > until_ms milliseconds since the epoch; NULL if it was never set
-- > now_ms   the server's wall clock
SELECT has_sequence_privilege({switch!literal}::regclass, 'UPDATE')             AS may_set,
       CASE WHEN s.is_called THEN s.last_value END                              AS until_ms,
       CAST(floor(date_part('epoch', clock_timestamp()) * 1000) AS bigint)      AS now_ms
FROM {switch} AS s
