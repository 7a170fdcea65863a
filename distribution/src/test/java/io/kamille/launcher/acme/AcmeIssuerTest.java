package io.kamille.launcher.acme;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.setting.Sections;
import io.kamille.core.tls.Challenges;
import io.kamille.core.tls.ServerCertificate;
import io.kamille.core.tls.ServerTls;
import io.kamille.launcher.acme.AcmeSettings.Binding;
import io.kamille.launcher.acme.Issuer.Issued;
import io.kamille.launcher.acme.Issuer.Order;
import io.kamille.launcher.acme.Issuer.Refusal;
import io.kamille.launcher.acme.Issuer.Window;
import io.kamille.launcher.acme.StubAuthority.Answer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an authority may say, from the best to the worst. */
class AcmeIssuerTest {

  private static final String NAME = "shop.test";
  private static final Binding UNBOUND = new Binding(null, null);

  @TempDir private Path directory;
  private final Challenges challenges = new Challenges();
  private final List<String> said = new ArrayList<>();
  private StubAuthority stub;
  private Path trusted;

  @BeforeEach
  void open() throws Exception {
    stub = new StubAuthority().knowingAllNames();
    trusted = stub.authority(directory.resolve("stub.pem"));
  }

  @AfterEach
  void close() {
    stub.close();
  }

  private AcmeSettings settings(Binding binding) {
    return Sections.copy(
            Sections.of(
                AcmeSettings.SECTION,
                "{terms-agreed: on, directory: '%s', contact: ops@shop.test}",
                stub.directory()))
        .with("store", directory.resolve("store"))
        .with("authority", trusted)
        .with("binding", binding)
        .with(
            "dnsHook", List.of("/bin/sh", "-c", "printf '%s %s %s\\n' \"$@\" >> " + txt(), "hook"))
        .record();
  }

  private Path txt() {
    return directory.resolve("txt");
  }

  private AcmeIssuer authority() {
    return authority(UNBOUND);
  }

  private AcmeIssuer authority(Binding binding) {
    CertificateStore store = new CertificateStore(settings(binding), null);
    return new AcmeIssuer(settings(binding), store, new Prover(store, challenges));
  }

  private Order order(String name, Way challenge, @Nullable X509Certificate replaced) {
    return new Order(name, challenge, replaced, said::add);
  }

  private Issued ordered() throws Exception {
    return authority().order(order(NAME, Way.TLS_ALPN_01, null));
  }

  private Refusal refused() throws InterruptedException {
    return refused(UNBOUND);
  }

  private Refusal refused(Binding binding) throws InterruptedException {
    try {
      authority(binding).order(order(NAME, Way.TLS_ALPN_01, null));
    } catch (Refusal refusal) {
      return refusal;
    }
    throw new AssertionError("it was issued");
  }

  private boolean proves(String type, String name, String token, String authorization)
      throws IOException {
    return switch (type) {
      case "http-01" -> authorization.equals(challenges.answer(token));
      case "tls-alpn-01" -> {
        ServerTls.Choice choice = challenges.choose(name);
        if (choice == null) {
          yield false;
        }
        choice.release();
        yield choice.server().covers(name);
      }
      default -> {
        byte[] hash = Proof.sha256(authorization);
        String value = Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
        yield Files.readString(txt())
            .equals("present _acme-challenge." + name + " " + value + "\n");
      }
    };
  }

  private static void isFor(Issued issued, String name) {
    ServerCertificate certificate =
        ServerCertificate.of(issued.chain(), issued.keys().getPrivate(), "the stub");
    assertThat(certificate.names()).containsExactly(name);
    assertThat(issued.chain().getFirst().getPublicKey()).isEqualTo(issued.keys().getPublic());
    assertThat(issued.chain()).hasSize(1);
  }

  @ParameterizedTest
  @EnumSource
  void aNameIsProvedInEachWay(Way way) throws Exception {
    stub.validatingBy(this::proves);
    String type = way.type();
    isFor(authority().order(order(NAME, way, null)), NAME);
    assertThat(stub.proved()).containsExactly(type + " " + NAME);
    assertThat(said)
        .containsExactly(
            "ordered from 127.0.0.1",
            "proving the name by " + type,
            "proved; waiting for the certificate");
    // Nothing can be asked for afterwards.
    assertThat(challenges.areAskedByHttp()).isFalse();
    assertThat(challenges.choose(NAME)).isNull();
    if (way == Way.DNS_01) {
      assertThat(Files.readAllLines(txt())).last().asString().startsWith("cleanup _acme-challenge");
    }
  }

  @Test
  void aWildcardIsProvedByItsParent() throws Exception {
    stub.validatingBy(this::proves);
    isFor(authority().order(order("*.shop.test", Way.DNS_01, null)), "*.shop.test");
    assertThat(stub.proved()).containsExactly("dns-01 shop.test");
  }

  @Test
  void anAddressIsOrderedAsOne() throws Exception {
    stub.validatingBy(this::proves);
    isFor(authority().order(order("127.0.0.1", Way.HTTP_01, null)), "127.0.0.1");
    assertThat(stub.orders("127.0.0.1"))
        .singleElement()
        .satisfies(
            asked ->
                assertThat(asked.path("identifiers").path(0).path("type").stringValue(""))
                    .isEqualTo("ip"));
  }

  @Test
  void aChallengeThatIsNotOfferedIsNamed() throws Exception {
    stub.validatingBy(this::proves);
    try {
      authority().order(order("*.shop.test", Way.HTTP_01, null));
      throw new AssertionError("it was issued");
    } catch (Refusal refusal) {
      assertThat(refusal).hasMessageContaining("does not offer http-01");
      assertThat(refusal.isFinal).isFalse();
    }
  }

  @Test
  void everyOtherNonceMayBeRefused() throws Exception {
    stub.refusesNonces = true;
    isFor(ordered(), NAME);
    assertThat(stub.refusedNonces.get()).isPositive();
  }

  /** A client that takes the default of 3 s instead, or cannot read a date, is late or fails. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void retryAfterIsANumberOrADate(boolean isDate) throws Exception {
    stub.validatingBy(this::proves);
    Instant next = Instant.now().plusSeconds(1).truncatedTo(ChronoUnit.SECONDS);
    // Before the trigger, and at the first look afterwards.
    stub.waits.add(isDate ? date(next) : "1");
    stub.waits.add(isDate ? date(next) : "1");
    long begin = System.nanoTime();
    ordered();
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(3));
  }

  /** As of an authority whose clock is behind ours. */
  @Test
  void retryAfterInThePastIsNoTrouble() throws Exception {
    stub.validatingBy(this::proves);
    stub.waits.add(date(Instant.now().minusSeconds(60)));
    stub.waits.add(date(Instant.now().minusSeconds(60)));
    isFor(ordered(), NAME);
  }

  private static String date(Instant instant) {
    return DateTimeFormatter.RFC_1123_DATE_TIME.format(instant.atOffset(ZoneOffset.UTC));
  }

  @Test
  void anOrderNamesWhatItReplacesUnlessThatIsReplacedAlready() throws Exception {
    stub.suggestion = suggestion("2030-01-01T00:00:00Z", "2030-01-02T00:00:00Z");
    X509Certificate first = ordered().chain().getFirst();
    authority().order(order(NAME, Way.TLS_ALPN_01, first));
    assertThat(replaces()).isNotEmpty();
    stub.once("/order", Answer.problem(409, "alreadyReplaced", "by another one"));
    isFor(authority().order(order(NAME, Way.TLS_ALPN_01, first)), NAME);
    assertThat(replaces()).isEmpty();
  }

  /** An authority that does not know RFC 9773 may refuse the word. */
  @Test
  void anOrderReplacesNothingWhereNoRenewalIsSuggested() throws Exception {
    X509Certificate first = ordered().chain().getFirst();
    authority().order(order(NAME, Way.TLS_ALPN_01, first));
    assertThat(replaces()).isEmpty();
  }

  private String replaces() {
    return stub.orders(NAME).getLast().path("replaces").stringValue("");
  }

  @Test
  void rateLimitsSayWhenToComeAgain() throws Exception {
    Answer limited = Answer.problem(429, "rateLimited", "too many certificates");
    Instant next = Instant.now().plus(Duration.ofHours(5)).truncatedTo(ChronoUnit.SECONDS);
    stub.once("/order", limited.with("Retry-After", date(next)));
    Refusal refusal = refused();
    assertThat(refusal.type).isEqualTo("rateLimited");
    assertThat(refusal).hasMessage("too many certificates");
    assertThat(refusal.retryAfter).isEqualTo(next);
    assertThat(refusal.isFinal).isFalse();

    stub.once("/order", limited);
    assertThat(requireNonNull(refused().retryAfter))
        .isBetween(Instant.now().plusSeconds(86_000), Instant.now().plusSeconds(87_000));
  }

  @ParameterizedTest
  @CsvSource({
    "/order, 403, userActionRequired",
    "/account, 403, externalAccountRequired",
    "/account, 401, unauthorized",
    "/order, 401, unauthorized",
    "/order, 400, accountDoesNotExist",
    "/account, 400, invalidContact"
  })
  void whatAnOperatorHasToDoIsFinal(String path, int status, String kind) throws Exception {
    stub.always(path, Answer.problem(status, kind, "in its own words"));
    Refusal refusal = refused();
    assertThat(refusal.type).isEqualTo(kind);
    assertThat(refusal).hasMessage("in its own words");
    assertThat(refusal.isFinal).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "500, serverInternal",
    "503, serverInternal",
    "400, rejectedIdentifier",
    "403, caa",
    "400, neverHeardOf"
  })
  void whatMayPassIsNotFinal(int status, String kind) throws Exception {
    stub.once("/order", Answer.problem(status, kind, "in its own words"));
    Refusal refusal = refused();
    assertThat(refusal.type).isEqualTo(kind);
    assertThat(refusal).hasMessage("in its own words");
    assertThat(refusal.isFinal).isFalse();
  }

  @Test
  void aProofThatFailsIsToldInTheAuthoritysWordsWithItsParts() throws Exception {
    stub.validatingBy((_, _, _, _) -> false);
    Refusal refusal = refused();
    assertThat(refusal.type).isEqualTo("unauthorized");
    assertThat(refusal).hasMessage("it is not there; seen from elsewhere");
    assertThat(refusal.isFinal).isFalse();
    assertThat(challenges.choose(NAME)).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "/directory, application/json, {",
    "/directory, application/json, []",
    "/directory, text/html, {}",
    "/order, application/json, {\"status\":",
    "/order, application/json, []",
    "/order, application/json, {}",
    "/order, text/html, <html>",
    "/order, application/problem+json, {}",
    "/account, application/json, '{\"status\":\"unheard-of\"}'",
    "/certificate, text/html, ''",
    "/certificate, application/pem-certificate-chain, ''",
    "/certificate, application/pem-certificate-chain, -----BEGIN CERTIFICATE-----"
  })
  void nonsenseIsRefused(String path, String type, String content) throws Exception {
    stub.always(path, Answer.of(200, type, content));
    Refusal refusal = refused();
    assertThat(refusal.type).isEqualTo(Refusal.MISUNDERSTOOD);
    assertThat(refusal.detail).isNotBlank();
    assertThat(refusal.isFinal).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/directory", "/order", "/certificate"})
  void tenMebibytesAreNotRead(String path) throws Exception {
    String text = "{\"status\":\"" + "x".repeat(10 << 20) + "\"}";
    String type =
        path.equals("/certificate") ? "application/pem-certificate-chain" : "application/json";
    stub.always(path, Answer.of(200, type, text));
    Refusal refusal = refused();
    assertThat(refusal.detail.length()).isLessThan(1_000);
    assertThat(refusal.isFinal).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {500, 501, 100_000})
  void ofWhatAnAuthoritySays500CharactersAreKept(int length) throws Exception {
    String text = "x".repeat(length);
    String kept = length > 500 ? text.substring(0, 499) + "…" : text;
    stub.always("/order", Answer.problem(400, text, text));
    Refusal refusal = refused();
    assertThat(refusal.type).isEqualTo(kept);
    assertThat(refusal.detail).isEqualTo(kept);
    assertThat(refusal).hasMessage(kept);
    assertThat(Advice.of(refusal, Way.HTTP_01, NAME)).isEqualTo(kept + ": " + kept);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/directory", "/account", "/order"})
  void redirectsAreNotFollowed(String path) throws Exception {
    stub.always(path, Answer.of(307, "text/html", "").with("Location", stub.url("/elsewhere")));
    assertThat(refused().isFinal).isFalse();
    assertThat(stub.requests("/elsewhere")).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"newNonce", "newAccount", "newOrder"})
  void noUrlButHttpsIsAsked(String entry) throws Exception {
    try (ServerSocketChannel plain = ServerSocketChannel.open()) {
      plain
          .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
          .configureBlocking(false);
      int port = ((InetSocketAddress) plain.getLocalAddress()).getPort();
      String real =
          String.format(
              Locale.ROOT,
              "{\"newNonce\":\"%s\",\"newAccount\":\"%s\",\"newOrder\":\"%s\"}",
              stub.url("/nonce"),
              stub.url("/account"),
              stub.url("/order"));
      stub.always(
          "/directory",
          Answer.json(
              real.replaceAll(
                  "(\"" + entry + "\":\")https://127.0.0.1:[0-9]+", "$1http://127.0.0.1:" + port)));
      assertThat(refused()).hasMessageContaining("which is not HTTPS");
      assertThat(plain.accept()).isNull();
    }
  }

  @Test
  void anAuthorityThatIsNotThereIsUnreachable() throws Exception {
    stub.close();
    Refusal refusal = refused();
    assertThat(refusal.type).isEqualTo(Refusal.UNREACHABLE);
    assertThat(refusal.detail).isNotBlank();
  }

  @Test
  void anAuthorityThatIsNotTrustedIsNotAsked() throws Exception {
    try (var other = new StubAuthority()) {
      trusted = other.authority(directory.resolve("other.pem"));
      assertThat(refused().type).isEqualTo(Refusal.UNREACHABLE);
      assertThat(stub.requests("/")).isZero();
    }
  }

  private static Answer suggestion(String start, String end) {
    return Answer.json(
        String.format(
            Locale.ROOT, "{\"suggestedWindow\":{\"start\":\"%s\",\"end\":\"%s\"}}", start, end));
  }

  private @Nullable Window window() throws Exception {
    X509Certificate certificate = ordered().chain().getFirst();
    return authority().window(certificate);
  }

  @ParameterizedTest
  @CsvSource({
    "2099-01-01T00:00:00Z, 2099-01-03T00:00:00Z",
    "2001-01-01T00:00:00Z, 2001-01-03T00:00:00Z"
  })
  void aWindowIsTakenAsItIs(String start, String end) throws Exception {
    stub.suggestion = suggestion(start, end).with("Retry-After", "21600");
    Window window = requireNonNull(window());
    assertThat(window.start()).isEqualTo(start);
    assertThat(window.end()).isEqualTo(end);
    assertThat(requireNonNull(window.retryAfter()))
        .isBetween(Instant.now().plusSeconds(21_500), Instant.now().plusSeconds(21_700));
  }

  @Test
  void aWindowThatEndsBeforeItBeginsIsNone() throws Exception {
    stub.suggestion = suggestion("2099-01-03T00:00:00Z", "2099-01-01T00:00:00Z");
    assertThat(window()).isNull();
  }

  @Test
  void anAuthorityNeedNotSuggestAnything() throws Exception {
    assertThat(window()).isNull();
    assertThat(stub.requests("/suggestion")).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{",
        "{}",
        "{\"suggestedWindow\":7}",
        "{\"suggestedWindow\":{\"start\":\"soon\",\"end\":\"2099-01-01T00:00:00Z\"}}"
      })
  void aBrokenSuggestionIsARefusal(String text) throws Exception {
    stub.suggestion = Answer.json(text);
    X509Certificate certificate = ordered().chain().getFirst();
    try {
      authority().window(certificate);
      throw new AssertionError("it was understood");
    } catch (Refusal refusal) {
      assertThat(refusal.type).isEqualTo(Refusal.MISUNDERSTOOD);
    }
  }

  @Test
  void theAccountKeyIsOnTheDiskBeforeItIsUsedAndIsUsedAgain() throws Exception {
    stub.once("/directory", Answer.problem(500, "serverInternal", "not today"));
    refused();
    Path key = settings(UNBOUND).home().resolve("account.pem");
    String before = Files.readString(key);
    assertThat(stub.accounts()).isZero();
    ordered();
    ordered();
    assertThat(Files.readString(key)).isEqualTo(before);
    assertThat(Files.getPosixFilePermissions(key)).hasSize(2);
    assertThat(stub.accounts()).isEqualTo(1);
  }

  @Test
  void anAccountIsBoundByAKeyFile() throws Exception {
    byte[] secret = "0123456789abcdef0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    stub.binding = Map.entry("customer-7", secret);
    Refusal refusal = refused();
    assertThat(refusal.type).isEqualTo("externalAccountRequired");
    assertThat(refusal.isFinal).isTrue();

    Path file = directory.resolve("mac");
    String text = Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
    Files.writeString(file, text + "\n");
    assertThat(refused(new Binding("customer-8", file)).isFinal).isTrue();
    Binding right = new Binding("customer-7", file);
    isFor(authority(right).order(order(NAME, Way.TLS_ALPN_01, null)), NAME);

    Files.writeString(file, "not base64url!");
    assertThat(refused(right).type).isIn(Refusal.LOCAL, Refusal.MISUNDERSTOOD);
  }
}
