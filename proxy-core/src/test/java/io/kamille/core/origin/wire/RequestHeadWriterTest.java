package io.kamille.core.origin.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.h1.HeadLimits;
import io.kamille.core.h1.HeadWriter;
import io.kamille.core.h1.RequestParser;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.RequestHead;
import io.kamille.core.origin.ForwardingSettings;
import io.kamille.core.origin.ForwardingSettings.Mode;
import io.kamille.core.setting.Sections;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestHeadWriterTest {

  private static final ForwardingSettings NOTHING_ADDED =
      Sections.copy(
              Sections.of(ForwardingSettings.SECTION, "{x-forwarded: off, removed-fields: []}"))
          .with("upgrades", List.of())
          .record();

  private ForwardingSettings settings = NOTHING_ADDED;
  private InetSocketAddress client = new InetSocketAddress("192.0.2.7", 4711);
  private boolean expects;
  private boolean upgrades;

  @Test
  void endToEndLinesPassInTheirOrder() {
    assertThat(forwarded("GET /a?b HTTP/1.1", "Host: h:81", "A:  1 ", "B:2", "a: 3", "C:"))
        .isEqualTo(head("GET /a?b HTTP/1.1", "Host: h:81", "A: 1", "B:2", "a: 3", "C:", VIA));
  }

  @Test
  void addedLinesPassToo() {
    RequestHead request = parsed("GET / HTTP/1.1", "Host: h", "A: 1");
    request.fields().add(FieldName.IF_NONE_MATCH, "\"x\"");
    request.fields().add("B", "2");
    assertThat(forwarded(request))
        .isEqualTo(head("GET / HTTP/1.1", "Host: h", "A: 1", "If-None-Match: \"x\"", "B: 2", VIA));
  }

  @Test
  void connectionSpecificFieldsGoNoFurther() {
    assertThat(
            forwarded(
                "GET / HTTP/1.1",
                "Host: h",
                "Connection: close, X-Hop , Host",
                "Connection: Accept",
                "X-Hop: 1",
                "Accept: text/html",
                "Keep-Alive: 5",
                "Proxy-Connection: x",
                "Upgrade: h2c",
                "X-End: 2"))
        .isEqualTo(head("GET / HTTP/1.1", "Host: h", "X-End: 2", VIA));
  }

  @Test
  void anAbsoluteTargetBecomesAPathAndItsAuthorityTheHost() {
    assertThat(forwarded("GET http://h:8080/a?b HTTP/1.1", "Host: other"))
        .isEqualTo(head("GET /a?b HTTP/1.1", "Host: h:8080", VIA));
    assertThat(forwarded("GET http://h?b HTTP/1.1", "Host: h"))
        .isEqualTo(head("GET /?b HTTP/1.1", "Host: h", VIA));
    assertThat(forwarded("GET http://h HTTP/1.1", "Host: h"))
        .isEqualTo(head("GET / HTTP/1.1", "Host: h", VIA));
    assertThat(forwarded("OPTIONS http://h HTTP/1.1", "Host: h"))
        .isEqualTo(head("OPTIONS * HTTP/1.1", "Host: h", VIA));
  }

  @ParameterizedTest
  @ValueSource(strings = {"H.Test", "h.test:", "h.test:80", "H.TEST:0080"})
  void theOriginSeesOneSpellingOfEquivalentAuthorities(String authority) {
    settings = forwarding(Mode.REPLACE, Mode.REPLACE);
    String[] lines = {
      "GET / HTTP/1.1",
      "Host: h.test",
      VIA,
      "X-Forwarded-For: 192.0.2.7",
      "X-Forwarded-Host: h.test",
      "X-Forwarded-Proto: http",
      "Forwarded: for=192.0.2.7;host=\"h.test\";proto=http"
    };
    assertThat(forwarded("GET / HTTP/1.1", "Host: " + authority)).isEqualTo(head(lines));
    assertThat(forwarded("GET http://" + authority + "/ HTTP/1.1", "Host: other"))
        .isEqualTo(head(lines));
  }

  @Test
  void theDefaultPortIsThatOfTheSchemeOfTheTarget() {
    RequestHead request = parsed("GET / HTTP/1.1", "Host: h:443");
    assertThat(forwarded(request)).isEqualTo(head("GET / HTTP/1.1", "Host: h:443", VIA));
    request.secure(true);
    assertThat(forwarded(request)).isEqualTo(head("GET / HTTP/1.1", "Host: h", VIA));
  }

  @Test
  void anAsteriskAndAnUnknownMethodPass() {
    assertThat(forwarded("OPTIONS * HTTP/1.1", "Host: h"))
        .isEqualTo(head("OPTIONS * HTTP/1.1", "Host: h", VIA));
    assertThat(forwarded("brew / HTTP/1.1", "Host: h"))
        .isEqualTo(head("brew / HTTP/1.1", "Host: h", VIA));
  }

  @Test
  void aRequestWithoutHostNamesTheOrigin() {
    assertThat(forwarded("GET / HTTP/1.0"))
        .isEqualTo(head("GET / HTTP/1.1", "Host: origin:9000", "Via: 1.0 kamille"));
  }

  @Test
  void theHostMayBeRewritten() {
    settings = Sections.copy(NOTHING_ADDED).with("host", "inner").record();
    assertThat(forwarded("GET / HTTP/1.1", "Host: outer"))
        .isEqualTo(head("GET / HTTP/1.1", "Host: inner", VIA));
  }

  @ParameterizedTest
  @ValueSource(strings = {"POST", "PUT", "PATCH"})
  void whereContentIsUsualNoneHasALengthToo(String method) {
    assertThat(forwarded(method + " / HTTP/1.1", "Host: h"))
        .isEqualTo(head(method + " / HTTP/1.1", "Host: h", "Content-Length: 0", VIA));
    assertThat(forwarded("DELETE / HTTP/1.1", "Host: h"))
        .isEqualTo(head("DELETE / HTTP/1.1", "Host: h", VIA));
  }

  @Test
  void whatTheOperatorSetsPassesUnderANameThatClientsFieldsLose() {
    settings =
        Sections.copy(NOTHING_ADDED)
            .with("removedFields", List.of("X-Real-IP", "X-Forwarded-Prefix"))
            .record();
    RequestHead request =
        parsed(
            "GET / HTTP/1.1",
            "Host: h",
            "X-Real-IP: 6.6.6.6",
            "X_Real_IP: 6.6.6.6",
            "Connection: X-Forwarded-Prefix",
            "A: 1");
    request.fields().beginOwn();
    request.fields().remove("A");
    request.fields().add("X-Real-IP", "192.0.2.7");
    request.fields().add("X-Forwarded-Prefix", "/app");
    assertThat(forwarded(request.copy()))
        .isEqualTo(
            head(
                "GET / HTTP/1.1",
                "Host: h",
                "X-Real-IP: 192.0.2.7",
                "X-Forwarded-Prefix: /app",
                VIA));
  }

  @Test
  void whatTheOperatorSetsTakesThePlaceOfWhatWeWouldWrite() {
    settings = forwarding(Mode.REPLACE, Mode.APPEND);
    RequestHead request =
        parsed("GET / HTTP/1.1", "Host: h", "X-Forwarded-Proto: ftp", "Forwarded: for=_b");
    request.fields().beginOwn();
    request.fields().add("X-Forwarded-Proto", "https");
    request.fields().add("Forwarded", "for=_a");
    assertThat(forwarded(request))
        .isEqualTo(
            head(
                "GET / HTTP/1.1",
                "Host: h",
                "X-Forwarded-Proto: https",
                "Forwarded: for=_a",
                VIA,
                "X-Forwarded-For: 192.0.2.7",
                "X-Forwarded-Host: h"));
  }

  @Test
  void addressesHaveTheFormOfRfc5952() {
    settings = forwarding(Mode.REPLACE, Mode.REPLACE);
    client = new InetSocketAddress("2001:db8:0:0:0:0:0:7", 4711);
    assertThat(forwarded("GET / HTTP/1.1", "Host: h"))
        .contains("X-Forwarded-For: 2001:db8::7\r\n", "Forwarded: for=\"[2001:db8::7]\";");
    client = new InetSocketAddress(InetAddress.ofLiteral("::1"), 4711);
    assertThat(forwarded("GET / HTTP/1.1", "Host: h"))
        .contains("X-Forwarded-For: ::1\r\n", "Forwarded: for=\"[::1]\";");
  }

  @Test
  void teIsTrailersOrNothing() {
    assertThat(forwarded("GET / HTTP/1.1", "Host: h", "TE: gzip, trailers", "Connection: TE"))
        .isEqualTo(head("GET / HTTP/1.1", "Host: h", "TE: trailers", "Connection: TE", VIA));
    assertThat(forwarded("GET / HTTP/1.1", "Host: h", "TE: gzip", "Connection: TE"))
        .isEqualTo(head("GET / HTTP/1.1", "Host: h", VIA));
  }

  @Test
  void anUpgradeIsAskedForOnOurOwnBehalf() {
    upgrades = true;
    assertThat(
            forwarded(
                "GET / HTTP/1.1",
                "Host: h",
                "Connection: keep-alive, Upgrade",
                "Upgrade: websocket",
                "Sec-WebSocket-Key: x"))
        .isEqualTo(
            head(
                "GET / HTTP/1.1",
                "Host: h",
                "Sec-WebSocket-Key: x",
                "Upgrade: websocket",
                "Connection: upgrade",
                VIA));
  }

  @Test
  void anExpectationPassesOnlyIfItIsWaitedFor() {
    assertThat(forwarded("GET / HTTP/1.1", "Host: h", "Expect: 100-continue"))
        .isEqualTo(head("GET / HTTP/1.1", "Host: h", VIA));
    expects = true;
    assertThat(forwarded("GET / HTTP/1.1", "Host: h", "Expect: 100-continue"))
        .isEqualTo(head("GET / HTTP/1.1", "Host: h", "Expect: 100-continue", VIA));
  }

  @Test
  void viaIsAddedBehindTheOnesThatCame() {
    assertThat(forwarded("GET / HTTP/1.1", "Host: h", "Via: 1.0 other"))
        .isEqualTo(head("GET / HTTP/1.1", "Host: h", "Via: 1.0 other", VIA));
  }

  @Test
  void maxForwardsCountsDownWhereItCounts() {
    assertThat(forwarded("OPTIONS / HTTP/1.1", "Host: h", "Max-Forwards: 10"))
        .contains("\r\nMax-Forwards: 9\r\n");
  }

  /** RFC 9111 §2: one client's choice would decide what others get. */
  @ParameterizedTest
  @ValueSource(strings = {"GET", "HEAD"})
  void fieldsThatAreNoPartOfTheKeyDoNotGoOn(String method) {
    assertThat(
            forwarded(method + " / HTTP/1.1", "Host: h", "Content-Length: 0", "Max-Forwards: 10"))
        .isEqualTo(head(method + " / HTTP/1.1", "Host: h", VIA));
  }

  @Test
  void theClientsAddressIsAppendedAndHostAndSchemeAreWhatWeSaw() {
    settings = forwarding(Mode.APPEND, Mode.PASS);
    assertThat(
            forwarded(
                "GET / HTTP/1.1",
                "Host: h",
                "X-Forwarded-For: 10.0.0.1, 10.0.0.2",
                "X-Forwarded-For: 10.0.0.3",
                "X-Forwarded-Proto: https",
                "X-Forwarded-Host: evil"))
        .isEqualTo(
            head(
                "GET / HTTP/1.1",
                "Host: h",
                VIA,
                "X-Forwarded-For: 10.0.0.1, 10.0.0.2, 10.0.0.3, 192.0.2.7",
                "X-Forwarded-Host: h",
                "X-Forwarded-Proto: http"));
  }

  @Test
  void replacedFieldsForgetWhatCame() {
    settings = forwarding(Mode.REPLACE, Mode.REPLACE);
    client = new InetSocketAddress("2001:db8::7", 4711);
    assertThat(forwarded("GET / HTTP/1.1", "Host: h", "X-Forwarded-For: x", "Forwarded: for=evil"))
        .isEqualTo(
            head(
                "GET / HTTP/1.1",
                "Host: h",
                VIA,
                "X-Forwarded-For: 2001:db8::7",
                "X-Forwarded-Host: h",
                "X-Forwarded-Proto: http",
                "Forwarded: for=\"[2001:db8::7]\";host=\"h\";proto=http"));
  }

  @Test
  void byDefaultTheOriginHearsNothingThatTheClientClaims() {
    settings = ForwardingSettings.DEFAULTS;
    List<String> lines = new ArrayList<>(List.of("GET / HTTP/1.1", "Host: h"));
    lines.addAll(List.of("X-Forwarded-For: x", "X-Forwarded-Proto: x", "Forwarded: host=evil"));
    ForwardingSettings.UNKEYED_FIELDS.forEach(name -> lines.add(name + ": evil"));
    lines.add("X-Kept: 1");
    assertThat(forwarded(lines.toArray(String[]::new)))
        .isEqualTo(
            head(
                "GET / HTTP/1.1",
                "Host: h",
                "X-Kept: 1",
                VIA,
                "X-Forwarded-For: 192.0.2.7",
                "X-Forwarded-Host: h",
                "X-Forwarded-Proto: http"));
  }

  @Test
  void aRemovedFieldIsKnownInAnyCaseAndWithoutItsDashes() {
    settings = ForwardingSettings.DEFAULTS;
    assertThat(
            forwarded(
                "GET / HTTP/1.1",
                "Host: h",
                "x-original-url: /evil",
                "X_Forwarded_Host: evil",
                "X-Forwarded_For: evil",
                "X.Forwarded.For: evil",
                "X-Original-URLs: 1",
                "Y-Original-URL: 2"))
        .isEqualTo(
            head(
                "GET / HTTP/1.1",
                "Host: h",
                "X-Original-URLs: 1",
                "Y-Original-URL: 2",
                VIA,
                "X-Forwarded-For: 192.0.2.7",
                "X-Forwarded-Host: h",
                "X-Forwarded-Proto: http"));
  }

  /** RFC 3875 §4.1.18: an origin may take one for the other. */
  @Test
  void whatFramesAMessageIsNotForwardedInDisguise() {
    assertThat(
            forwarded(
                "GET / HTTP/1.1",
                "Host: h",
                "Content_Length: 5",
                "TRANSFER_ENCODING: chunked",
                "Transfer-Encoding_: chunked",
                "Keep_Alive: 5",
                "Proxy_Connection: close",
                "X: 1"))
        .isEqualTo(head("GET / HTTP/1.1", "Host: h", "Transfer-Encoding_: chunked", "X: 1", VIA));
  }

  @Test
  void noClientPretendsAnAddress() {
    settings = ForwardingSettings.DEFAULTS;
    assertThat(
            forwarded(
                "GET / HTTP/1.1",
                "Host: h",
                "X-Real-IP: 198.51.100.1",
                "X-Client-IP: 198.51.100.1",
                "Client-IP: 198.51.100.1",
                "True-Client-IP: 198.51.100.1",
                "X-Cluster-Client-IP: 198.51.100.1",
                "X-Remote-IP: 198.51.100.1",
                "X-Remote-Addr: 198.51.100.1",
                "X-Originating-IP: 198.51.100.1",
                "CF-Connecting-IP: 198.51.100.1",
                "Fastly-Client-IP: 198.51.100.1",
                "x_real_ip: 198.51.100.1"))
        .isEqualTo(
            head(
                "GET / HTTP/1.1",
                "Host: h",
                VIA,
                "X-Forwarded-For: 192.0.2.7",
                "X-Forwarded-Host: h",
                "X-Forwarded-Proto: http"));
  }

  @Test
  void theOperatorSaysWhichFieldsAreRemoved() {
    settings =
        Sections.copy(NOTHING_ADDED).with("removedFields", List.of("X-A", "cookie")).record();
    assertThat(
            forwarded("GET / HTTP/1.1", "Host: h", "x-a: 1", "Cookie: 2", "X-Original-URL: /kept"))
        .isEqualTo(head("GET / HTTP/1.1", "Host: h", "X-Original-URL: /kept", VIA));
  }

  private static ForwardingSettings forwarding(Mode xForwarded, Mode forwarded) {
    return Sections.copy(NOTHING_ADDED)
        .with("xForwarded", xForwarded)
        .with("forwarded", forwarded)
        .record();
  }

  private static final String VIA = "Via: 1.1 kamille";

  private String forwarded(String... lines) {
    return forwarded(parsed(lines));
  }

  private String forwarded(RequestHead request) {
    EmbeddedChannel channel = new EmbeddedChannel();
    Exchange exchange =
        new Exchange(
            channel.eventLoop(),
            client,
            client,
            request,
            RequestContent.NONE,
            new RecordingReply());
    ByteBuf out =
        new RequestHeadWriter(settings, new HeadWriter())
            .write(
                exchange,
                exchange.content().length(),
                "origin:9000",
                expects,
                upgrades,
                UnpooledByteBufAllocator.DEFAULT);
    channel.finishAndReleaseAll();
    String text = out.toString(StandardCharsets.ISO_8859_1);
    out.release();
    return text;
  }

  private static RequestHead parsed(String... lines) {
    RequestParser parser = new RequestParser(HeadLimits.REQUEST);
    ByteBuf in = Unpooled.copiedBuffer(head(lines), StandardCharsets.ISO_8859_1);
    assertThat(parser.parse(in)).isEqualTo(RequestParser.Outcome.COMPLETE);
    in.release();
    return parser.head();
  }

  private static String head(String... lines) {
    return String.join("\r\n", lines) + "\r\n\r\n";
  }
}
