package test.model;

import java.math.*;
import java.net.*;
import java.sql.Timestamp;
import java.time.*;
import java.util.UUID;

public record Everything(boolean pBoolean, byte pByte, short pShort, int pInt, long pLong, float pFloat, double pDouble, char pChar,
        Boolean bBoolean, Byte bByte, Short bShort, Integer bInt, Long bLong, Float bFloat, Double bDouble, Character bChar,
        String string, BigDecimal decimal, BigInteger big, byte[] bytes, LocalDate localDate, LocalTime localTime,
        LocalDateTime localDateTime, OffsetDateTime offsetDateTime, Instant instant, ZonedDateTime zonedDateTime,
        Duration duration, Period period, Year year, YearMonth yearMonth, java.sql.Date sqlDate, java.sql.Time sqlTime,
        Timestamp timestamp, URI uri, URL url, UUID uuid, Status status, long[] longs, Long[] boxes, String[] texts,
        BigDecimal[] decimals, Object object, BigDecimal wide) {
}
