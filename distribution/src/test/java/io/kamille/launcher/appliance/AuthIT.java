package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.head;
import static io.kamille.launcher.appliance.StubOrigin.message;
import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.client.h2.TestH2Client;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.jwk.RsaJsonWebKey;
import org.jose4j.jwk.RsaJwkGenerator;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.lang.JoseException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may use a route, through a whole appliance, and those who try without. */
class AuthIT {

  /** Of "secret", by crypt(3) of the system. */
  private static final String BCRYPT =
      "$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";

  private static final String RIGHT = basic("anna:secret");
  private static final String PUBLIC = "Cache-Control: public, max-age=60";

  @RegisterExtension private final Journey journey = new Journey();
  private StubOrigin auth;

  @BeforeEach
  void begin() throws IOException {
    auth = StubOrigin.open();
    Files.writeString(journey.file("users"), "# people\nanna:" + BCRYPT + "\n");
  }

  @AfterEach
  void close() throws IOException {
    auth.close();
  }

  private static String basic(String pair) {
    return "Authorization: Basic "
        + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
  }

  private static List<String> values(Answer answer, String name) {
    return answer.lines().stream()
        .filter(line -> line.regionMatches(true, 0, name + ":", 0, name.length() + 1))
        .map(line -> line.substring(name.length() + 1).strip())
        .toList();
  }

  private void withPasswords() {
    journey.with(
        "routes: [{upstream: site, auth: {basic: {users-file: '"
            + journey.file("users")
            + "', realm: Staff}}}]");
  }

  private void withServer(String settings, String upstream) {
    journey.with(
        "upstreams: {site: {origins: ['"
            + journey.origin().url()
            + "']},"
            + " auth: {origins: ['"
            + auth.url()
            + "'], retries: 0"
            + upstream
            + "}}",
        "routes: [{upstream: site, auth: {forward: {upstream: auth, path: /verify"
            + settings
            + "}}}, {path: /login, upstream: auth}]");
  }

  // Passwords

  @Test
  void aHitNeverPassesThePasswordBy() {
    journey.origin().on("/a", ok("x", PUBLIC));
    withPasswords();
    Answer refused = journey.get("/a");
    assertThat(refused.status()).isEqualTo(401);
    assertThat(refused.field("WWW-Authenticate"))
        .isEqualTo("Basic realm=\"Staff\", charset=\"UTF-8\"");
    assertThat(journey.get("/a", RIGHT).content()).isEqualTo("x");
    Answer hit = journey.get("/a", RIGHT);
    assertThat(hit.field("Cache-Status")).contains("hit");
    for (String target : List.of("/a", "//a", "/%61", "/b/../a")) {
      assertThat(journey.get(target).status()).as(target).isEqualTo(401);
    }
    assertThat(journey.ask("HEAD", "/a").status()).isEqualTo(401);
    assertThat(journey.ask("OPTIONS", "*").status()).isEqualTo(401);
    assertThat(journey.get("/a", "Range: bytes=0-0").status()).isEqualTo(401);
    assertThat(journey.get("/a", "If-None-Match: *").status()).isEqualTo(401);
    assertThat(journey.get("/a", "Cache-Control: only-if-cached").status()).isEqualTo(401);
    assertThat(
            journey
                .get("/a", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: x")
                .status())
        .isEqualTo(401);
    assertThat(journey.origin().requests("/a")).hasSize(1);
  }

  @Test
  void wrongAndMalformedCredentialsAreRefused() {
    withPasswords();
    for (String line :
        List.of(
            basic("anna:secreT"),
            basic("anna:"),
            basic("anna"),
            basic("bert:secret"),
            basic(":secret"),
            basic("anna:sec\nret"),
            "Authorization: Basic",
            "Authorization: Basic %%%",
            "Authorization: Bearer abc",
            "Authorization: " + "x".repeat(4_000))) {
      assertThat(journey.get("/a", line).status()).as(line).isEqualTo(401);
    }
    assertThat(journey.get("/a", RIGHT, basic("bert:x")).status()).isEqualTo(401);
    assertThat(journey.get("/a", basic("bert:x"), RIGHT).status()).isEqualTo(401);
    assertThat(journey.origin().requests()).isEmpty();
  }

  @Test
  void anHttp2ClientIsAskedToo() {
    journey.origin().on("/a", ok("x", PUBLIC));
    withPasswords();
    journey.with("listeners: [{address: '127.0.0.1:0', protocols: [h2c]}]");
    try (TestH2Client client = TestH2Client.connect(journey.address())) {
      assertThat(client.get(1, "/a").flush().answer(1).status()).isEqualTo(401);
      client.get(3, "/a", "authorization", RIGHT.substring("Authorization: ".length())).flush();
      assertThat(client.answer(3).content()).isEqualTo("x");
      client.get(5, "/a").flush();
      assertThat(client.answer(5).status()).isEqualTo(401);
    }
  }

  @Test
  void responsesAreStoredAsThoseToAuthorization() {
    journey.origin().on("/private", ok("p", "Cache-Control: max-age=60"));
    withPasswords();
    journey.get("/private", RIGHT);
    Answer second = journey.get("/private", RIGHT);
    assertThat(second.field("Cache-Status")).doesNotContain("hit");
    assertThat(journey.origin().requests("/private")).hasSize(2);
  }

  @Test
  void aReloadKeepsWhatIsKnownAndReadsTheFile() throws IOException {
    journey.origin().on("/a", ok("x", PUBLIC));
    withPasswords();
    assertThat(journey.get("/a", RIGHT).status()).isEqualTo(200);
    Files.writeString(journey.file("users"), "bert:" + BCRYPT + "\n");
    journey.appliance().reload(journey.configuration());
    assertThat(journey.get("/a", RIGHT).status()).isEqualTo(401);
    assertThat(journey.get("/a", basic("bert:secret")).status()).isEqualTo(200);
  }

  @Test
  void explainSaysWhatIsChecked() throws Exception {
    withPasswords();
    assertThat(explain("url=http://a/a")).contains("\"refuse\"", "401 (Unauthorized)");
    String secret = RIGHT.substring("Authorization: Basic ".length());
    assertThat(explain("url=http://a/a&field=Authorization:%20Basic%20" + secret))
        .contains("what follows is for a request that it lets pass", "\"forward\"", "RFC 9111 §3.5")
        .doesNotContain(secret);
    withServer("", "");
    journey.appliance().reload(journey.configuration());
    assertThat(explain("url=http://a/a")).contains("upstream auth", "\"forward\"", "routes[].auth");
  }

  private String explain(String query) throws IOException, InterruptedException {
    return journey.admin("/v1/explain?" + query).body();
  }

  // An auth server

  @Test
  void theAuthServerLearnsWhatIsAskedForAndTheOriginWhoAsks() {
    auth.on(
        "/verify",
        ok(
            "",
            "X-User: anna",
            "X-Real-IP: 9",
            "X-Secret: no",
            "Set-Cookie: s=2",
            "Set-Cookie: t=3"));
    journey.origin().on("/a?b", ok("x", PUBLIC));
    withServer(", response-fields: [X-User, X-Group, X-Real-IP, X-Remote-IP]", "");
    Answer answer =
        journey.get(
            "/a?b",
            "Cookie: s=1",
            "X-User: root",
            "X.User: root",
            "x_group: root",
            "X-Remote-IP: root",
            "X-Forwarded-Uri: /z");
    assertThat(answer.content()).isEqualTo("x");
    assertThat(values(answer, "Set-Cookie")).containsExactly("s=2", "t=3");
    assertThat(values(answer, "Cache-Control")).contains("private");
    StubOrigin.Request asked = auth.request("/verify");
    assertThat(asked.method()).isEqualTo("GET");
    assertThat(asked.values("Cookie")).containsExactly("s=1");
    assertThat(asked.values("X-Forwarded-Uri")).containsExactly("/a?b");
    assertThat(asked.values("X-Forwarded-Method")).containsExactly("GET");
    assertThat(asked.values("X-Forwarded-Proto")).containsExactly("http");
    assertThat(asked.values("X-Forwarded-For")).containsExactly("127.0.0.1");
    assertThat(asked.values("X-Forwarded-Host")).hasSize(1);
    assertThat(asked.field("X-User")).isNull();
    StubOrigin.Request passed = journey.origin().request("/a?b");
    assertThat(passed.values("X-User")).containsExactly("anna");
    assertThat(passed.values("X-Real-IP")).as("removed of clients").containsExactly("9");
    assertThat(passed.head().toLowerCase(Locale.ROOT)).doesNotContain("root", "x-secret");
    Answer hit = journey.get("/a?b", "Cookie: s=2");
    assertThat(hit.field("Cache-Status")).contains("hit");
    assertThat(values(hit, "Set-Cookie")).containsExactly("s=2", "t=3");
    assertThat(values(hit, "Cache-Control")).contains("private");
    assertThat(auth.requests("/verify")).hasSize(2);
  }

  @Test
  void anyOtherAnswerGoesToTheClient() {
    auth.on("/verify", message("302 Found", "login", "Location: /login", "Set-Cookie: n=1"));
    auth.on("/login", ok("form"));
    withServer("", "");
    Answer answer = journey.get("/a");
    assertThat(answer.status()).isEqualTo(302);
    assertThat(answer.field("Location")).isEqualTo("/login");
    assertThat(answer.field("Set-Cookie")).isEqualTo("n=1");
    assertThat(answer.content()).isEqualTo("login");
    assertThat(journey.ask("HEAD", "/a").status()).isEqualTo(302);
    assertThat(journey.get("/login").content()).isEqualTo("form");
    auth.on("/verify", head("500 Oops") + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n");
    assertThat(journey.get("/a").content()).isEqualTo("x");
    assertThat(journey.origin().requests()).isEmpty();
  }

  @Test
  void refusalsHaveTheSecurityFieldsOfTheRoute() {
    auth.on("/verify", message("401 Unauthorized", "login", "X-Frame-Options: DENY"));
    String site = "site: {origins: ['" + journey.origin().url() + "']}";
    String server = "auth: {origins: ['" + auth.url() + "']}";
    journey.with(
        "upstreams: {" + site + ", " + server + "}",
        "routes: [{upstream: site, security-headers: on, auth: {forward:"
            + " {upstream: auth, path: /verify}}}, {path: /own, upstream: site,"
            + " security-headers: on, auth: {basic: {users-file: '"
            + journey.file("users")
            + "'}}}, {path: /denied, upstream: site, security-headers: on,"
            + " access: {deny: [127.0.0.1]}}]");
    Answer told = journey.get("/a");
    assertThat(told.content()).isEqualTo("login");
    assertThat(values(told, "X-Frame-Options")).containsExactly("DENY");
    assertThat(values(told, "X-Content-Type-Options")).containsExactly("nosniff");
    assertThat(values(told, "Referrer-Policy")).hasSize(1);
    assertThat(values(told, "Strict-Transport-Security")).isEmpty();
    for (String path : List.of("/own", "/denied")) {
      Answer own = journey.get(path);
      assertThat(own.status()).isEqualTo(path.equals("/own") ? 401 : 403);
      assertThat(values(own, "X-Frame-Options")).as(path).containsExactly("SAMEORIGIN");
      assertThat(values(own, "X-Content-Type-Options")).as(path).containsExactly("nosniff");
    }
  }

  /** As oauth2-proxy 7.15.6 answers with {@code --upstream=static://202 --set-xauthrequest}. */
  @Test
  void oauth2ProxyLeadsToTheLoginAndBack() {
    String never = "Cache-Control: no-cache, no-store, must-revalidate, max-age=0";
    auth.on(
        "/verify",
        visit ->
            visit.send(
                "_oauth2_proxy=JBke".equals(visit.request().field("Cookie"))
                    ? message(
                        "202 Accepted",
                        "Authenticated",
                        "Gap-Auth: anna",
                        "X-Auth-Request-User: anna",
                        "Content-Type: text/plain; charset=utf-8")
                    : message(
                        "302 Found",
                        "",
                        never,
                        "X-Accel-Expires: 0",
                        "Location: https://id.test/authorize?state=z7:%252Fb%253Fx%253D1",
                        "Set-Cookie: _oauth2_proxy_csrf=c_te; Path=/; Max-Age=900; HttpOnly")));
    auth.on(
        "/login",
        message("302 Found", "", never, "Location: /b?x=1", "Set-Cookie: _oauth2_proxy=JBke"));
    journey.origin().on("/b?x=1", ok("x", PUBLIC));
    withServer(", response-fields: [X-Auth-Request-User]", "");
    Answer asked = journey.get("/b?x=1");
    assertThat(asked.status()).isEqualTo(302);
    assertThat(asked.field("Location")).startsWith("https://id.test/");
    assertThat(asked.field("Set-Cookie")).startsWith("_oauth2_proxy_csrf=");
    String session = "Cookie: " + journey.get("/login").field("Set-Cookie");
    assertThat(journey.get("/b?x=1", session).content()).isEqualTo("x");
    assertThat(journey.get("/b?x=1", session).field("Cache-Status")).contains("hit");
    assertThat(journey.get("/b?x=1").status()).isEqualTo(302);
    assertThat(journey.origin().request("/b?x=1").values("X-Auth-Request-User"))
        .containsExactly("anna");
  }

  @Test
  void aBadAuthServerIsNeverAPass() throws IOException {
    journey.origin().on("/a", ok("x", PUBLIC));
    withServer("", ", head-timeout: 100ms, content-timeout: 100ms");
    auth.on("/verify", ok(""));
    assertThat(journey.get("/a").content()).isEqualTo("x");
    auth.on("/verify", visit -> {});
    isUnavailable("hangs");
    auth.on("/verify", "garbage\r\n\r\n");
    isUnavailable("garbage");
    auth.on("/verify", head("200 OK") + "Content-Length: 10485760\r\n\r\n");
    isUnavailable("long by its own word");
    auth.on(
        "/verify",
        head("200 OK") + "Transfer-Encoding: chunked\r\n\r\nA00000\r\n" + "x".repeat(400_000));
    isUnavailable("long");
    auth.on(
        "/verify",
        visit -> visit.send(head("200 OK") + "Content-Length: 5\r\n\r\nab").out().close());
    isUnavailable("breaks off");
    auth.on(
        "/verify",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n");
    isUnavailable("switches");
    auth.kill();
    isUnavailable("is dead");
    assertThat(journey.origin().requests()).hasSize(1);
  }

  private void isUnavailable(String how) {
    Answer answer = journey.get("/a");
    assertThat(answer.status()).as(how).isEqualTo(503);
    assertThat(answer.field("Proxy-Status")).as(how).startsWith("kamille; error=");
  }

  @Test
  void aVerdictIsKeptByItsCacheControlForAllThatWasSent() {
    auth.on("/verify", ok("", "Cache-Control: max-age=60", "X-User: anna"));
    journey.origin().on("/a", ok("x", PUBLIC, "Vary: X-User"));
    journey.origin().on("/b", ok("y", PUBLIC));
    withServer(", response-fields: [X-User]", "");
    journey.get("/a", "Cookie: s=1");
    journey.get("/a", "Cookie: s=1");
    assertThat(auth.requests("/verify")).hasSize(1);
    journey.get("/b", "Cookie: s=1");
    assertThat(auth.requests("/verify")).hasSize(2);
    auth.on("/verify", message("401 Unauthorized", "no"));
    assertThat(journey.get("/a", "Cookie: s=1").field("Cache-Status")).contains("hit");
    assertThat(journey.get("/a", "Cookie: s=2").status()).isEqualTo(401);
    assertThat(journey.get("/a").status()).isEqualTo(401);
    assertThat(journey.ask("POST", "/a", "Cookie: s=1").status()).isEqualTo(401);
    assertThat(journey.get("/a?", "Cookie: s=1").status()).isEqualTo(401);
  }

  @Test
  void noClientForgesOrRemovesAnIdentity() {
    auth.on("/verify", ok("", "X-User: anna"));
    journey
        .origin()
        .on(
            "/a",
            visit -> {
              visit.content();
              visit.send(ok("x:" + visit.trailers().strip()));
            });
    withServer(", response-fields: [X-User]", "");
    assertThat(journey.get("/a", "Connection: X-User").status()).isEqualTo(400);
    assertThat(journey.get("/a", "Connection: close, x-user").status()).isEqualTo(400);
    Answer trailed =
        journey.say(
            ("POST /a HTTP/1.1|Host: a.test|Transfer-Encoding: chunked|Trailer: X-User||"
                    + "1|z|0|X-User: root||")
                .replace("|", "\r\n"));
    assertThat(trailed.content()).isEqualTo("x:");
    assertThat(journey.origin().request("/a").values("X-User")).containsExactly("anna");
  }

  @Test
  void theAuthServerJudgesThePathThatTheRouteHas() {
    auth.on("/verify", message("403 Forbidden", "no"));
    withServer("", "");
    journey.get("/public//./%61dmin?q");
    assertThat(auth.request("/verify").field("X-Forwarded-Uri")).isEqualTo("/public/admin?q");
  }

  /** The origin gets the path as it came: one that climbs for some servers is for nobody. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "/public/../admin",
        "/public/%2e%2e/admin",
        "/public/..%2fadmin",
        "/public/..%5cadmin",
        "/public/..;/admin",
        "/public/..;x=1/admin",
        "/public/%2e%2e;/admin",
        "/public/..%3b/admin",
        "/public/;/../admin",
        "/public/.;/../admin",
        "/public/.;/admin",
        "/public/;a/admin",
        "/public/x%2f../../admin",
        "/public/x\\../../admin",
        "/public/x%5c../../admin",
        "/public/..",
      })
  void aPathThatMeansDifferentThingsToServersIsRefused(String path) {
    auth.on("/verify", ok(""));
    withServer("", "");
    assertThat(journey.get(path).status()).isEqualTo(400);
    assertThat(auth.requests("/verify")).isEmpty();
  }

  @Test
  void staleAndCollapsedResponsesAreCheckedToo() {
    AtomicInteger left = new AtomicInteger(2);
    auth.on(
        "/verify",
        visit ->
            visit.send(left.getAndDecrement() > 0 ? ok("") : message("401 Unauthorized", "no")));
    journey
        .origin()
        .on("/a", ok("x", "Cache-Control: public, max-age=1, stale-if-error=600", "Age: 9"));
    withServer("", "");
    assertThat(journey.get("/a").content()).isEqualTo("x");
    journey.origin().on("/a", message("503 Busy", ""));
    assertThat(journey.get("/a").content()).isEqualTo("x");
    assertThat(journey.get("/a").status()).isEqualTo(401);
  }

  @Test
  void cookiesComeWithAnErrorOfTheOriginToo() throws IOException {
    auth.on("/verify", ok("", "Set-Cookie: s=2", "Set-Cookie: t=3"));
    journey.origin().kill();
    withServer("", "");
    Answer answer = journey.get("/a");
    assertThat(answer.status()).isEqualTo(502);
    assertThat(values(answer, "Set-Cookie")).containsExactly("s=2", "t=3");
  }

  @Test
  void aClientThatLeavesLeavesNothingBehind() {
    var word = new CountDownLatch(1);
    auth.on(
        "/verify",
        visit -> {
          awaitWord(word);
          visit.send(ok(""));
        });
    withServer("", "");
    TestClient client = journey.client();
    client.get("/a");
    auth.awaitRequests("/verify", 1);
    client.reset();
    Await.until(() -> journey.appliance().totals().connections() == 0, "it is gone");
    word.countDown();
    assertThat(journey.origin().requests()).isEmpty();
  }

  // Tokens

  @Test
  void aTokenIsCheckedByTheKeysBehindTheUrl() throws Exception {
    RsaJsonWebKey key = RsaJwkGenerator.generateJwk(2048);
    key.setKeyId("k1");
    String keys = new JsonWebKeySet(key).toJson(JsonWebKey.OutputControlLevel.PUBLIC_ONLY);
    var word = new CountDownLatch(1);
    auth.on(
        "/keys",
        visit -> {
          awaitWord(word);
          visit.send(ok(keys));
        });
    journey.origin().on("/a", ok("x", PUBLIC));
    journey.with(
        "routes: [{upstream: site, auth: {jwt: {keys: '"
            + auth.url()
            + "/keys', issuer: me, fields: {X-User: sub}}}}]");
    String right = "Authorization: Bearer " + token(key, "k1");
    assertThat(journey.get("/a", right).status()).isEqualTo(503);
    word.countDown();
    Await.until(() -> journey.get("/a", right).status() == 200, "the keys are here");
    assertThat(journey.get("/a", right, "X-User: root").field("Cache-Status")).contains("hit");
    assertThat(journey.origin().request("/a").values("X-User")).containsExactly("anna");
    Answer none = journey.get("/a");
    assertThat(none.status()).isEqualTo(401);
    assertThat(none.field("WWW-Authenticate")).isEqualTo("Bearer");
    for (String lenient :
        List.of(right + "==", right.replaceFirst("\\.", ".!!"), right + "\u00ff")) {
      assertThat(journey.get("/a", lenient).status()).as(lenient).isEqualTo(401);
    }
    for (int i = 0; i < 20; i++) {
      Answer bad = journey.get("/a", "Authorization: Bearer " + token(key, "k" + i + 2));
      assertThat(bad.status()).isEqualTo(401);
      assertThat(bad.field("WWW-Authenticate")).contains("invalid_token");
    }
    // A doubt may fetch them once more, if the machine was so slow that seconds have passed.
    assertThat(auth.requests("/keys")).as("a fetch for each token").hasSizeLessThan(5);
    assertThat(explain("url=http://a/a&field=Authorization:%20Bearer%20" + token(key, "k1")))
        .contains("\"token\"", "\"serve\"");
  }

  private static void awaitWord(CountDownLatch word) {
    try {
      word.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static String token(RsaJsonWebKey key, String name) throws JoseException {
    JwtClaims claims = new JwtClaims();
    claims.setIssuer("me");
    claims.setSubject("anna");
    claims.setExpirationTimeMinutesInTheFuture(5);
    JsonWebSignature signed = new JsonWebSignature();
    signed.setPayload(claims.toJson());
    signed.setKey(key.getPrivateKey());
    signed.setKeyIdHeaderValue(name);
    signed.setAlgorithmHeaderValue("RS256");
    return signed.getCompactSerialization();
  }
}
