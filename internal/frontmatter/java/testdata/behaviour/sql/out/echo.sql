-- name: callBoolean
-- parameters:
--   - {name: given, type: "boolean"}
--   - {name: got, type: "boolean", variant: OUT}
CALL echo_boolean(:given, :got);

-- name: callByte
-- parameters:
--   - {name: given, type: "byte"}
--   - {name: got, type: "byte", variant: OUT}
CALL echo_smallint(:given, :got);

-- name: callShort
-- parameters:
--   - {name: given, type: "short"}
--   - {name: got, type: "short", variant: OUT}
CALL echo_smallint(:given, :got);

-- name: callInt
-- parameters:
--   - {name: given, type: "int"}
--   - {name: got, type: "int", variant: OUT}
CALL echo_integer(:given, :got);

-- name: callLong
-- parameters:
--   - {name: given, type: "long"}
--   - {name: got, type: "long", variant: OUT}
CALL echo_bigint(:given, :got);

-- name: callFloat
-- parameters:
--   - {name: given, type: "float"}
--   - {name: got, type: "float", variant: OUT}
CALL echo_real(:given, :got);

-- name: callDouble
-- parameters:
--   - {name: given, type: "double"}
--   - {name: got, type: "double", variant: OUT}
CALL echo_double(:given, :got);

-- name: callChar
-- parameters:
--   - {name: given, type: "char"}
--   - {name: got, type: "char", variant: OUT}
CALL echo_char(:given, :got);

-- name: callBoxedBoolean
-- parameters:
--   - {name: given, type: "Boolean"}
--   - {name: got, type: "Boolean", variant: OUT}
CALL echo_boolean(:given, :got);

-- name: callBoxedByte
-- parameters:
--   - {name: given, type: "Byte"}
--   - {name: got, type: "Byte", variant: OUT}
CALL echo_smallint(:given, :got);

-- name: callBoxedShort
-- parameters:
--   - {name: given, type: "Short"}
--   - {name: got, type: "Short", variant: OUT}
CALL echo_smallint(:given, :got);

-- name: callBoxedInt
-- parameters:
--   - {name: given, type: "Integer"}
--   - {name: got, type: "Integer", variant: OUT}
CALL echo_integer(:given, :got);

-- name: callBoxedLong
-- parameters:
--   - {name: given, type: "Long"}
--   - {name: got, type: "Long", variant: OUT}
CALL echo_bigint(:given, :got);

-- name: callBoxedFloat
-- parameters:
--   - {name: given, type: "Float"}
--   - {name: got, type: "Float", variant: OUT}
CALL echo_real(:given, :got);

-- name: callBoxedDouble
-- parameters:
--   - {name: given, type: "Double"}
--   - {name: got, type: "Double", variant: OUT}
CALL echo_double(:given, :got);

-- name: callBoxedChar
-- parameters:
--   - {name: given, type: "Character"}
--   - {name: got, type: "Character", variant: OUT}
CALL echo_char(:given, :got);

-- name: callString
-- parameters:
--   - {name: given, type: "string"}
--   - {name: got, type: "string", variant: OUT}
CALL echo_varchar(:given, :got);

-- name: callDecimal
-- parameters:
--   - {name: given, type: "bigdecimal"}
--   - {name: got, type: "bigdecimal", variant: OUT}
CALL echo_numeric(:given, :got);

-- name: callBig
-- parameters:
--   - {name: given, type: "biginteger"}
--   - {name: got, type: "biginteger", variant: OUT}
CALL echo_numeric(:given, :got);

-- name: callBytes
-- parameters:
--   - {name: given, type: "bytes"}
--   - {name: got, type: "bytes", variant: OUT}
CALL echo_bytes(:given, :got);

-- name: callLocalDate
-- parameters:
--   - {name: given, type: "localdate"}
--   - {name: got, type: "localdate", variant: OUT}
CALL echo_date(:given, :got);

-- name: callLocalTime
-- parameters:
--   - {name: given, type: "localtime"}
--   - {name: got, type: "localtime", variant: OUT}
CALL echo_time(:given, :got);

-- name: callLocalDateTime
-- parameters:
--   - {name: given, type: "localdatetime"}
--   - {name: got, type: "localdatetime", variant: OUT}
CALL echo_timestamp(:given, :got);

-- name: callOffsetDateTime
-- parameters:
--   - {name: given, type: "offsetdatetime"}
--   - {name: got, type: "offsetdatetime", variant: OUT}
CALL echo_timestamptz(:given, :got);

-- name: callOffsetTime
-- parameters:
--   - {name: given, type: "offsettime"}
--   - {name: got, type: "offsettime", variant: OUT}
CALL echo_timetz(:given, :got);

-- name: callInstant
-- parameters:
--   - {name: given, type: "instant"}
--   - {name: got, type: "instant", variant: OUT}
CALL echo_timestamptz(:given, :got);

-- name: callZonedDateTime
-- parameters:
--   - {name: given, type: "zoneddatetime"}
--   - {name: got, type: "zoneddatetime", variant: OUT}
CALL echo_timestamptz(:given, :got);

-- name: callDuration
-- parameters:
--   - {name: given, type: "duration"}
--   - {name: got, type: "duration", variant: OUT}
CALL echo_varchar(:given, :got);

-- name: callPeriod
-- parameters:
--   - {name: given, type: "period"}
--   - {name: got, type: "period", variant: OUT}
CALL echo_varchar(:given, :got);

-- name: callYear
-- parameters:
--   - {name: given, type: "year"}
--   - {name: got, type: "year", variant: OUT}
CALL echo_integer(:given, :got);

-- name: callYearMonth
-- parameters:
--   - {name: given, type: "yearmonth"}
--   - {name: got, type: "yearmonth", variant: OUT}
CALL echo_varchar(:given, :got);

-- name: callSqlDate
-- parameters:
--   - {name: given, type: "date"}
--   - {name: got, type: "date", variant: OUT}
CALL echo_date(:given, :got);

-- name: callSqlTime
-- parameters:
--   - {name: given, type: "time"}
--   - {name: got, type: "time", variant: OUT}
CALL echo_time(:given, :got);

-- name: callTimestamp
-- parameters:
--   - {name: given, type: "timestamp"}
--   - {name: got, type: "timestamp", variant: OUT}
CALL echo_timestamp(:given, :got);

-- name: callUri
-- parameters:
--   - {name: given, type: "uri"}
--   - {name: got, type: "uri", variant: OUT}
CALL echo_varchar(:given, :got);

-- name: callUrl
-- parameters:
--   - {name: given, type: "url"}
--   - {name: got, type: "url", variant: OUT}
CALL echo_varchar(:given, :got);

-- name: callUuid
-- parameters:
--   - {name: given, type: "uuid"}
--   - {name: got, type: "uuid", variant: OUT}
CALL echo_uuid(:given, :got);

-- name: callStatus
-- parameters:
--   - {name: given, type: "test.model.Status"}
--   - {name: got, type: "test.model.Status", variant: OUT}
CALL echo_varchar(:given, :got);

-- name: callLongs
-- parameters:
--   - {name: given, type: "long[]"}
--   - {name: got, type: "long[]", variant: OUT}
CALL echo_bigints(:given, :got);

-- name: callBoxedLongs
-- parameters:
--   - {name: given, type: "Long[]"}
--   - {name: got, type: "Long[]", variant: OUT}
CALL echo_bigints(:given, :got);

-- name: callTexts
-- parameters:
--   - {name: given, type: "string[]"}
--   - {name: got, type: "string[]", variant: OUT}
CALL echo_varchars(:given, :got);

-- name: callDecimals
-- parameters:
--   - {name: given, type: "bigdecimal[]"}
--   - {name: got, type: "bigdecimal[]", variant: OUT}
CALL echo_numerics(:given, :got);

-- name: callObject
-- parameters:
--   - {name: given, type: "object"}
--   - {name: got, type: "object", variant: OUT, sqlType: BIGINT}
CALL echo_bigint(:given, :got);

-- name: callCode
-- parameters:
--   - {name: given, type: Long}
--   - {name: got, type: test.model.Code, variant: OUT}
CALL echo_bigint(:given, :got);

-- name: callScaled
-- parameters:
--   - {name: given, type: bigdecimal}
--   - {name: got, type: bigdecimal, variant: OUT, sqlType: NUMERIC, scale: 2}
CALL echo_numeric(:given, :got);

-- name: callInOut
-- parameters:
--   - {name: value, type: string, variant: INOUT}
CALL echo_inout(:value);

-- name: callNullBoolean
-- parameters:
--   - {name: got, type: boolean, variant: OUT}
CALL echo_boolean(NULL, :got);

-- name: callNullByte
-- parameters:
--   - {name: got, type: byte, variant: OUT}
CALL echo_smallint(NULL, :got);

-- name: callNullShort
-- parameters:
--   - {name: got, type: short, variant: OUT}
CALL echo_smallint(NULL, :got);

-- name: callNullInt
-- parameters:
--   - {name: got, type: int, variant: OUT}
CALL echo_integer(NULL, :got);

-- name: callNullLong
-- parameters:
--   - {name: got, type: long, variant: OUT}
CALL echo_bigint(NULL, :got);

-- name: callNullFloat
-- parameters:
--   - {name: got, type: float, variant: OUT}
CALL echo_real(NULL, :got);

-- name: callNullDouble
-- parameters:
--   - {name: got, type: double, variant: OUT}
CALL echo_double(NULL, :got);

-- name: callNullChar
-- parameters:
--   - {name: got, type: char, variant: OUT}
CALL echo_char(NULL, :got);
