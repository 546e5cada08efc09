-- Pop one message for one subscriber of a ring that has several.
-- {pop}       procedure of the design
-- :subscriber its number, from 1 on
-- > id        its id
-- > payload   the message
EXEC {pop} @subscriber = :subscriber
