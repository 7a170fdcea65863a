package io.kamille.core.auth;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.auth.Checks.Asker;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.ExchangeNotes;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.setting.Sections;
import io.netty.channel.DefaultEventLoop;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CredentialStationTest {

  /** From RFC 8037, appendix A.2. */
  private static final String KEYS =
      "{\"keys\": [{\"kty\": \"OKP\", \"crv\": \"Ed25519\","
          + " \"x\": \"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}]}";

  private static final String ANNA =
      "anna:$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n";

  @TempDir private Path directory;
  private String client = "127.0.0.1";
  private final AuthThreads threads = new AuthThreads(1);
  private final DefaultEventLoop loop = new DefaultEventLoop();
  private final CountDownLatch word = new CountDownLatch(1);
  private CredentialStation<Users> station;
  private ExchangeHandler tokens;
  private final List<Exchange> asked = new ArrayList<>();

  @BeforeEach
  void open() throws IOException {
    Path file = directory.resolve("users");
    if (Files.notExists(file)) {
      Files.writeString(file, ANNA);
    }
    station =
        CredentialStation.ofPasswords(
            Sections.of(BasicAuthSettings.SECTION, "{users-file: %s, realm: x}", file),
            threads,
            ManualClock.atSeconds(0),
            exchange -> {
              exchange.reply().head(ResponseHead.of(200), 0);
              exchange.reply().end(null);
            });
    Path keys = Files.writeString(directory.resolve("keys"), KEYS);
    tokens =
        CredentialStation.ofTokens(
            Sections.of(JwtSettings.SECTION, "{keys: %s, issuer: issuer}", keys),
            threads,
            ManualClock.atSeconds(0),
            exchange -> {});
  }

  @AfterEach
  void close() {
    word.countDown();
    threads.close();
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  @Test
  void guessersAreTurnedAwayAndThoseKnownPass() throws Exception {
    assertThat(send("anna:secret").ended().get(10, TimeUnit.SECONDS).head().status())
        .isEqualTo(200);
    occupy(word);
    List<RecordingReply> guesses = new ArrayList<>();
    for (int i = 0; i < AuthThreads.WAITING_PER_THREAD; i++) {
      guesses.add(send("anna:" + i));
    }
    RecordingReply over = send("anna:over").ended().get(10, TimeUnit.SECONDS);
    assertThat(over.failure().status()).isEqualTo(503);
    assertThat(over.failure().retryAfterSeconds()).isPositive();
    assertThat(send(tokens, "Bearer x").ended().get(10, TimeUnit.SECONDS).failure().status())
        .as("tokens do not wait behind passwords")
        .isEqualTo(401);
    assertThat(send("anna:secret").ended().get(10, TimeUnit.SECONDS).head().status())
        .isEqualTo(200);
    Failure gone = Failure.of(ErrorType.CLIENT_GONE, "gone");
    loop.submit(() -> guesses.forEach(guess -> guess.source().cancel(gone))).syncUninterruptibly();
    word.countDown();
    assertThat(send("anna:later").ended().get(10, TimeUnit.SECONDS).hasFailed()).isTrue();
    assertThat(guesses).noneMatch(RecordingReply::hasFailed);
  }

  @Test
  void aPasswordWhoseClientIsGoneIsNotChecked() throws Exception {
    var first = new CountDownLatch(1);
    occupy(first);
    RecordingReply gone = send("anna:secret");
    Failure why = Failure.of(ErrorType.CLIENT_GONE, "gone");
    loop.submit(() -> gone.source().cancel(why)).syncUninterruptibly();
    first.countDown();
    occupy(word);
    assertThat(send("anna:secret").isEnded()).as("known").isFalse();
  }

  @Test
  void aRefusalKeepsTheNameOfItsRoute() throws Exception {
    for (String pair : List.of("anna", "anna:wrong", "bert:secret")) {
      assertThat(send(pair).ended().get(10, TimeUnit.SECONDS).failure().status()).isEqualTo(401);
      assertThat(asked.getLast().notes().route()).isEqualTo("staff");
      assertThat(asked.getLast().notes().cacheStatus()).isEqualTo(ExchangeNotes.REFUSED);
    }
  }

  /** A page has many parts, and its browser asks for all of them at once. */
  @Test
  void equalQuestionsShareOneCheck() throws Exception {
    occupy(word);
    List<RecordingReply> parts = new ArrayList<>();
    for (int i = 0; i < 3 * AuthThreads.WAITING_PER_THREAD; i++) {
      parts.add(send("anna:secret"));
    }
    Failure gone = Failure.of(ErrorType.CLIENT_GONE, "gone");
    loop.submit(() -> parts.getFirst().source().cancel(gone)).syncUninterruptibly();
    word.countDown();
    for (RecordingReply part : parts.subList(1, parts.size())) {
      assertThat(part.ended().get(10, TimeUnit.SECONDS).head().status()).isEqualTo(200);
    }
  }

  @Test
  void aGuesserKeepsOutNobodyElse() throws Exception {
    occupy(word);
    List<RecordingReply> guesses = new ArrayList<>();
    for (int i = 0; i < AuthThreads.WAITING_PER_THREAD; i++) {
      guesses.add(send("anna:" + i));
    }
    client = "10.0.0.2";
    RecordingReply right = send("anna:secret");
    assertThat(guesses.getLast().ended().get(10, TimeUnit.SECONDS).failure().status())
        .as("the last guess gives up its place")
        .isEqualTo(503);
    word.countDown();
    assertThat(right.ended().get(10, TimeUnit.SECONDS).head().status()).isEqualTo(200);
  }

  @Test
  void whoGaveARightPasswordLatelyGoesBeforeManyGuessers() throws Exception {
    assertThat(send("anna:secret").ended().get(10, TimeUnit.SECONDS).head().status())
        .isEqualTo(200);
    users(ANNA.replace("2y", "2b"));
    occupy(word);
    for (int i = 0; i < AuthThreads.WAITING_PER_THREAD; i++) {
      client = "10.0.0." + i;
      send("anna:" + i);
    }
    client = "127.0.0.1";
    RecordingReply right = send("anna:secret");
    client = "10.0.1.1";
    assertThat(send("anna:late").ended().get(10, TimeUnit.SECONDS).failure().status())
        .isEqualTo(503);
    word.countDown();
    assertThat(right.ended().get(10, TimeUnit.SECONDS).head().status()).isEqualTo(200);
  }

  @Test
  void aChangeOfTheFileEndsWhatItChangesAlone() throws Exception {
    assertThat(send("anna:secret").ended().get(10, TimeUnit.SECONDS).head().status())
        .isEqualTo(200);
    occupy(word);
    users(ANNA);
    assertThat(send("anna:secret").isEnded()).as("the same content").isTrue();
    users("# more\n" + ANNA + ANNA.replace("anna", "bert"));
    assertThat(send("anna:secret").isEnded()).as("another user").isTrue();
    users(ANNA.replace("2y", "2b"));
    assertThat(send("anna:secret").isEnded()).as("another hash").isFalse();
    users(ANNA.replace("anna", "bert"));
    assertThat(send("anna:secret").isEnded()).as("no such user").isFalse();
  }

  /** Has the only thread wait. */
  private void occupy(CountDownLatch until) throws InterruptedException {
    var begun = new CountDownLatch(1);
    threads
        .passwords()
        .ask(
            new byte[] {(byte) until.hashCode()},
            Asker.of(InetAddress.ofLiteral("192.0.2.1"), ""),
            () -> {
              begun.countDown();
              await(until);
              return new Found(null, AuthStation.NOBODY, 0);
            });
    begun.await();
  }

  /** Writes the file, and has it be read. */
  private void users(String content) throws IOException {
    Files.writeString(directory.resolve("new"), content);
    Files.move(
        directory.resolve("new"), directory.resolve("users"), StandardCopyOption.REPLACE_EXISTING);
    open();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException over) {
      Thread.currentThread().interrupt();
    }
  }

  private RecordingReply send(String pair) {
    String encoded = Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
    return send(station, "Basic " + encoded);
  }

  private RecordingReply send(ExchangeHandler to, String credentials) {
    RecordingReply reply = new RecordingReply();
    RequestHead request = RequestHead.of("GET", "http://a/", "Authorization", credentials);
    var address = new InetSocketAddress(InetAddress.ofLiteral(client), 1);
    Exchange exchange = new Exchange(loop, address, address, request, RequestContent.NONE, reply);
    exchange.notes().route("staff");
    asked.add(exchange);
    loop.submit(() -> to.handle(exchange)).syncUninterruptibly();
    return reply;
  }
}
