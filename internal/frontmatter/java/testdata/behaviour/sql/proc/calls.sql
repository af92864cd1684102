-- name: callAddOne
-- parameters:
--   - {name: a, type: int}
--   - {name: b, type: Integer, variant: OUT}
CALL add_one(:a, :b);

-- name: callTwice
-- parameters:
--   - {name: x, type: int, variant: INOUT}
CALL twice(:x);

-- name: callDivide
-- parameters:
--   - {name: a, type: int}
--   - {name: b, type: int}
--   - {name: quotient, type: int, variant: OUT}
--   - {name: rest, type: int, variant: OUT}
CALL divide(:a, :b, :quotient, :rest);

-- name: callDivideRecord
-- resultRowType: test.model.Division
-- parameters:
--   - {name: a, type: int}
--   - {name: b, type: int}
--   - {name: quotient, type: int, variant: OUT}
--   - {name: rest, type: int, variant: OUT}
CALL divide(:a, :b, :quotient, :rest);

-- name: callTouch
-- returning: none
CALL touch();

-- name: callSum
-- vendor: H2
-- resultRowType: int
-- parameters: {a: int, b: int}
CALL :a + :b;

-- name: callRows
-- returning: multiple
-- resultRowType: long
-- parameters: {a: long}
CALL rows_from(:a);

-- name: callFirst
-- returning: single
-- resultRowType: long
-- parameters: {a: long}
CALL rows_from(:a);

-- name: callStream
-- returning: cursor
-- resultRowType: long
-- parameters: {a: long}
CALL rows_from(:a);
