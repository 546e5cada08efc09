-- Has triggers that wait for the commit fire now, so that what they do can be seen before it.
SET CONSTRAINTS ALL IMMEDIATE
