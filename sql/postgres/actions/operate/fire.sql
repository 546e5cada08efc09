-- Fires deferred triggers now, so that their effects can be seen before the commit.
SET CONSTRAINTS ALL IMMEDIATE
