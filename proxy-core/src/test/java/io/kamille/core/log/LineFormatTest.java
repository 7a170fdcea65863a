package io.kamille.core.log;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.Failure;
import io.kamille.core.gate.AddressMask;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.log.AccessLogSettings.Format;
import io.kamille.core.log.AccessLogSettings.LineFields;
import io.kamille.core.setting.Sections;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LineFormatTest {

  private static final long START_EPOCH_MILLIS = 1_795_251_600_123L;

  @Test
  void combinedIsOneLineWithDurationCacheResultAndFailureBehind() {
    Exchange exchange =
        Exchanges.of(
            RequestHead.of(
                "GET",
                "http://example.org/a?b=c",
                "Referer",
                "http://example.org/",
                "User-Agent",
                "curl/8.5"));
    exchange.notes().cache(CacheResult.STALE_HIT);
    assertThat(line(Format.COMBINED, exchange, 200, 512, 123_456))
        .isEqualTo(
            "192.0.2.1 - - [21/Nov/2026:09:00:00 +0000] \"GET /a?b=c HTTP/1.1\" 200 512"
                + " \"http://example.org/\" \"curl/8.5\" 0.000123 stale-hit - \"-\"\n");
  }

  @Test
  void combinedShowsWhatIsMissingAsADash() {
    Exchange exchange = Exchanges.of(new RequestHead());
    exchange.notes().failure(Failure.request(400, "no method"));
    assertThat(line(Format.COMBINED, exchange, 400, 0, 61_000_000_000L))
        .isEqualTo(
            "192.0.2.1 - - [21/Nov/2026:09:00:00 +0000] \"-\" 400 0"
                + " \"-\" \"-\" 61.000000 - http_request_error \"no method\"\n");
  }

  @Test
  void combinedEscapesWhateverIsNotPlain() {
    Exchange exchange =
        Exchanges.of(
            RequestHead.of(
                "GET", "http://h/", "User-Agent", "a\"b\\c\u001b[2J\r\n\u007f\u00ff\u00e9"));
    assertThat(line(Format.COMBINED, exchange, 200, 0, 0))
        .contains("\"a\\\"b\\\\c\\x1b[2J\\x0d\\x0a\\x7f\\xff\\xe9\"");
  }

  @Test
  void jsonTellsHowACallOfGrpcEnded() {
    Exchange exchange = Exchanges.of(RequestHead.of("POST", "http://h/svc/Do"));
    assertThat(line(Format.JSON, exchange, 200, 0, 0)).doesNotContain("grpcStatus");
    exchange.notes().grpcStatus(0);
    assertThat(line(Format.JSON, exchange, 200, 0, 0)).contains("\"status\":200,\"grpcStatus\":0,");
    exchange.notes().grpcStatus(254);
    assertThat(line(Format.JSON, exchange, 200, 0, 0)).contains("\"grpcStatus\":254,");
  }

  @Test
  void jsonHasAMemberForEverythingKnown() {
    Exchange exchange =
        Exchanges.from(
            "2001:db8::1",
            RequestHead.of(
                "BREW", "https://example.org:8443/a", "Referer", "r", "User-Agent", "u"));
    exchange.notes().route("images");
    exchange.notes().origin("10.0.0.1:80");
    exchange.notes().cache(CacheResult.MISS);
    exchange.notes().failure(Failure.of(Failure.ErrorType.CONNECTION_REFUSED, "refused"));
    assertThat(line(Format.JSON, exchange, 502, 17, 1_500_000_000))
        .isEqualTo(
            "{\"time\":\"2026-11-21T09:00:00.123000Z\",\"client\":\"2001:db8::1\","
                + "\"method\":\"BREW\",\"scheme\":\"https\",\"authority\":\"example.org:8443\","
                + "\"target\":\"/a\",\"version\":\"HTTP/1.1\",\"status\":502,\"contentBytes\":17,"
                + "\"durationSeconds\":1.500000,\"cache\":\"miss\","
                + "\"failure\":\"connection_refused\",\"referer\":\"r\",\"userAgent\":\"u\","
                + "\"route\":\"images\",\"origin\":\"10.0.0.1:80\",\"reason\":\"refused\"}\n");
  }

  @Test
  void jsonLeavesOutWhatIsMissing() {
    assertThat(line(Format.JSON, Exchanges.of(new RequestHead()), 0, 0, -1))
        .isEqualTo(
            "{\"time\":\"2026-11-21T09:00:00.123000Z\",\"client\":\"192.0.2.1\","
                + "\"scheme\":\"http\",\"version\":\"HTTP/1.1\",\"status\":0,\"contentBytes\":0,"
                + "\"durationSeconds\":0.000000}\n");
  }

  @ParameterizedTest
  @CsvSource({
    "a\"b\\, a\\\"b\\\\",
    "x\u001b[2J, x\\u001b[2J",
    "\u00e2\u0082\u00ac!, \\u20ac!",
    "\u00f0\u009f\u0098\u0080, \\ud83d\\ude00",
    "x\u00ffy, x\\ufffdy",
    "x\u00c2\u0085, x\\u0085",
  })
  void jsonEscapesWhateverIsNotPlain(String octets, String escaped) {
    Exchange exchange = Exchanges.of(RequestHead.of("GET", "http://h/", "User-Agent", octets));
    assertThat(line(Format.JSON, exchange, 200, 0, 0))
        .contains("\"userAgent\":\"" + escaped + "\"}");
  }

  @Test
  void longTextsAreCutAndSaySo() {
    Exchange exchange = Exchanges.of(RequestHead.of("GET", "http://h/" + "a".repeat(9_000)));
    assertThat(line(Format.COMBINED, exchange, 200, 0, 0))
        .contains("GET /" + "a".repeat(8_191) + "... HTTP/1.1");
    assertThat(line(Format.JSON, exchange, 200, 0, 0))
        .contains("\"/" + "a".repeat(8_191) + "...\"");
  }

  @Test
  void namesThatAreNotAsciiAreStillOneOctetEach() {
    Exchange exchange = Exchanges.of(RequestHead.of("GET", "http://h/"));
    exchange.notes().route("caf\u00e9");
    assertThat(line(Format.JSON, exchange, 200, 0, 0)).contains("\"route\":\"caf?\"");
  }

  @Test
  void monthsAreTheThreeLettersOfApache() {
    LineFormat format =
        AccessLog.format(
            settings(Format.COMBINED, List.of(), List.of(), AddressMask.FULL),
            new FieldDigest(FieldDigest.newKey()));
    Exchange exchange = Exchanges.of(RequestHead.of("GET", "http://h/"));
    StringBuilder months = new StringBuilder();
    for (int month = 1; month <= 12; month++) {
      long second = LocalDate.of(2026, month, 1).atStartOfDay().toEpochSecond(ZoneOffset.UTC);
      LineBuffer line = format.line(exchange, 200, 0, second * 1_000_000, 0);
      String text = new String(line.octets(), 0, line.length(), US_ASCII);
      months.append(text, text.indexOf('/') + 1, text.indexOf("/2026"));
    }
    assertThat(months).hasToString("JanFebMarAprMayJunJulAugSepOctNovDec");
  }

  private static final List<LoggedField> ADDED =
      Stream.of(
              "request-field:Accept",
              "request-field:Cookie",
              "response-field:X-Shop",
              "response-field:Set-Cookie",
              "request-id",
              "trace-id",
              "origin",
              "origin-time",
              "tls-version")
          .map(LoggedField::parse)
          .toList();

  private static Exchange told() {
    Exchange exchange =
        Exchanges.of(
            RequestHead.of(
                "GET",
                "http://h/",
                "Accept",
                "a\"",
                "accept",
                "b",
                "Cookie",
                "s=1",
                "Referer",
                "r",
                "User-Agent",
                "u"));
    exchange.notes().requestId("7f");
    exchange.notes().origin("o:80");
    exchange.notes().originNanos(2_500_000);
    exchange.notes().tlsVersion("TLSv1.3");
    exchange.notes().responseFields(Fields.of("X-Shop", "x"));
    return exchange;
  }

  @Test
  void jsonHasWhatIsAddedAndCredentialsAsADigest() {
    AccessLogSettings settings = settings(Format.JSON, ADDED, List.of(), AddressMask.FULL);
    assertThat(line(settings, told(), 200, 0, 0))
        .containsPattern(
            "\"origin\":\"o:80\",\"request-field:accept\":\"a\\\\\","
                + " b\",\"request-field:cookie\":\"digest:[0-9a-f]{16}\",\"response-field:x-shop\":\"x\",\"requestId\":\"7f\",\"originSeconds\":0.002500,\"tlsVersion\":\"TLSv1.3\"}\n")
        .doesNotContain("s=1");
  }

  @Test
  void combinedHasWhatIsAddedInItsOrderAtTheEnd() {
    AccessLogSettings settings =
        settings(Format.COMBINED, ADDED, List.of("referer", "client"), AddressMask.FULL);
    assertThat(line(settings, told(), 200, 0, 0))
        .startsWith("- - - [")
        .containsPattern(
            " \"-\" \"u\" 0.000000 - - \"-\" \"a\\\\\", b\" \"digest:[0-9a-f]{16}\" \"x\" \"-\""
                + " \"7f\" \"-\" \"o:80\" \"0.002500\" \"TLSv1.3\"\n");
  }

  @Test
  void longValuesThatAreAddedAreCutAndSaySo() {
    AccessLogSettings settings =
        settings(Format.JSON, List.of(ADDED.getFirst()), List.of(), AddressMask.FULL);
    Exchange exchange =
        Exchanges.of(RequestHead.of("GET", "http://h/", "Accept", "a".repeat(2000)));
    assertThat(line(settings, exchange, 200, 0, 0)).contains("\"" + "a".repeat(1024) + "...\"");
  }

  @Test
  void maskedAddressesKeepTheirNetwork() {
    AccessLogSettings settings =
        settings(Format.COMBINED, List.of(), List.of(), AddressMask.MASKED);
    RequestHead head = RequestHead.of("GET", "http://h/");
    assertThat(line(settings, Exchanges.of(head), 200, 0, 0)).startsWith("192.0.2.0 ");
    assertThat(line(settings, Exchanges.from("2001:db8:1:2:3::4", head), 200, 0, 0))
        .startsWith("2001:db8:1:: ");
  }

  @Test
  void equalValuesHaveEqualDigestsAndOtherKeysOthers() {
    FieldDigest digest = new FieldDigest(FieldDigest.newKey());
    String first = digestOf("session=1", digest);
    assertThat(digestOf("session=1", digest)).isEqualTo(first);
    assertThat(digestOf("session=", digest)).isNotEqualTo(first);
    assertThat(digestOf("session=1", new FieldDigest(FieldDigest.newKey()))).isNotEqualTo(first);
  }

  @Test
  void loopsWithOneKeyHaveTheSameDigests() {
    SecretKeySpec key = FieldDigest.newKey();
    assertThat(digestOf("session=1", new FieldDigest(key)))
        .isEqualTo(digestOf("session=1", new FieldDigest(key)));
  }

  private static String digestOf(String value, FieldDigest digest) {
    LineBuffer buffer = new LineBuffer(16).ascii(value);
    digest.replace(buffer);
    return new String(buffer.octets(), 0, buffer.length(), US_ASCII);
  }

  private static AccessLogSettings settings(
      Format format, List<LoggedField> add, List<String> remove, AddressMask client) {
    return Sections.copy(AccessLogSettings.SECTION.defaults())
        .with("isEnabled", true)
        .with("format", format)
        .with("fields", new LineFields(add, remove))
        .with("client", client)
        .record();
  }

  private static String line(
      Format format, Exchange exchange, int status, long contentBytes, long durationNanos) {
    AccessLogSettings settings = settings(format, List.of(), List.of(), AddressMask.FULL);
    return line(settings, exchange, status, contentBytes, durationNanos);
  }

  private static String line(
      AccessLogSettings settings,
      Exchange exchange,
      int status,
      long contentBytes,
      long durationNanos) {
    LineBuffer line =
        AccessLog.format(settings, new FieldDigest(FieldDigest.newKey()))
            .line(exchange, status, contentBytes, START_EPOCH_MILLIS * 1000, durationNanos);
    return new String(line.octets(), 0, line.length(), US_ASCII);
  }

  @ParameterizedTest
  @CsvSource({"16, true", "17, false", "10000, false"})
  void sixteenValuesMayBeAdded(int values, boolean isTaken) {
    String text =
        IntStream.range(0, values).mapToObj(i -> "request-field:a" + i).collect(joining(", "));
    assertThat(LoggedField.LIST.parse(text) != null).isEqualTo(isTaken);
  }
}
