-- name: deleteEverything
DELETE FROM everything;

-- name: findEverything
-- resultRowType: test.model.Everything
SELECT * FROM everything ORDER BY 12;

-- name: insertEverything
-- parameters:
--   pBoolean: boolean
--   pByte: byte
--   pShort: short
--   pInt: int
--   pLong: long
--   pFloat: float
--   pDouble: double
--   pChar: char
--   bBoolean: Boolean
--   bByte: Byte
--   bShort: Short
--   bInt: Integer
--   bLong: Long
--   bFloat: Float
--   bDouble: Double
--   bChar: Character
--   string: string
--   decimal: bigdecimal
--   big: biginteger
--   bytes: bytes
--   localDate: localdate
--   localTime: localtime
--   localDateTime: localdatetime
--   offsetDateTime: offsetdatetime
--   instant: instant
--   zonedDateTime: zoneddatetime
--   duration: duration
--   period: period
--   year: year
--   yearMonth: yearmonth
--   sqlDate: date
--   sqlTime: time
--   timestamp: timestamp
--   uri: uri
--   url: url
--   uuid: uuid
--   status: test.model.Status
--   longs: long[]
--   boxes: Long[]
--   texts: string[]
--   decimals: bigdecimal[]
--   object: object
--   wide: bigdecimal
INSERT INTO everything VALUES (:pBoolean, :pByte, :pShort, :pInt, :pLong, :pFloat, :pDouble, :pChar,
  :bBoolean, :bByte, :bShort, :bInt, :bLong, :bFloat, :bDouble, :bChar, :string, :decimal, :big, :bytes,
  :localDate, :localTime, :localDateTime, :offsetDateTime, :instant, :zonedDateTime, :duration, :period, :year,
  :yearMonth, :sqlDate, :sqlTime, :timestamp, :uri, :url, :uuid, :status, :longs, :boxes, :texts, :decimals,
  :object, :wide);

-- name: insertTimeWithZone
-- parameters: {value: offsettime}
INSERT INTO zoned_times (value_) VALUES (:value);

-- name: findTimesWithZone
-- resultRowType: offsettime
SELECT value_ FROM zoned_times;
