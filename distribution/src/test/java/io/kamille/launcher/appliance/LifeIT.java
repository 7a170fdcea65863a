package io.kamille.launcher.appliance;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h2.TestH2Client;
import io.kamille.core.tls.ClientHellos;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Connections of every kind through days that last seconds: what is in use is not closed, nothing
 * is executed twice, and what is idle ends.
 *
 * <p>All go at once, before one appliance with short time-outs. {@code -Dkamille.life=SECONDS}
 * makes it longer, {@code -Dkamille.life.seed=SEED} repeats one.
 */
class LifeIT {

  private static final long HEAD_MILLIS = 2_000;
  private static final long IDLE_MILLIS = 3_000;
  private static final long ORIGIN_IDLE_MILLIS = 600;

  /** A sweep comes once a second, on a machine that has other things to do. */
  private static final long LATE_MILLIS = 4_000;

  private static final long SECONDS = Long.getLong("kamille.life", 8);
  private static final long SEED = Long.getLong("kamille.life.seed", System.nanoTime() & 0xfffff);

  private final Queue<String> wrongs = new ConcurrentLinkedQueue<>();
  private final Map<String, Boolean> sent = new ConcurrentHashMap<>();
  private final AtomicInteger ids = new AtomicInteger();
  private final AtomicInteger answers = new AtomicInteger();
  private final LifeOrigin origin = new LifeOrigin(SEED);
  private final StubOrigin old = StubOrigin.open();
  private final Appliance appliance;
  private long endNanos;

  LifeIT() throws IOException {
    String upstream = "'], idle-timeout: " + ORIGIN_IDLE_MILLIS + "ms";
    appliance =
        Journey.start(
            "listeners: [{address: '127.0.0.1:0', protocols: [h2c, http/1.1]},"
                + " {address: '127.0.0.1:0', tls: self-signed}]",
            "loops: 2",
            "limits: {head-timeout: 2s, idle-timeout: 3s}",
            "upstreams: {new: {origins: ['http://127.0.0.1:"
                + origin.port()
                + upstream
                + ", protocol: h2c}, old: {origins: ['"
                + old.url()
                + upstream
                + "}}",
            "routes: [{path: /ws, upstream: old, upgrades: [websocket]}, {upstream: new}]",
            "cache: {memory: {capacity: 16MiB}}",
            "log: {level: error}",
            "admin: {address: off}");
    old.on("/ws", LifeIT::echo);
  }

  @AfterEach
  void close() throws IOException {
    appliance.close();
    origin.close();
    old.close();
  }

  private static void echo(StubOrigin.Visit visit) throws IOException {
    visit.send(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
    for (int octet = visit.in().read(); octet >= 0; octet = visit.in().read()) {
      visit.out().write(octet);
    }
  }

  /** What one client does until its time is over. */
  private interface Life {
    void live(Random random, boolean secure) throws Exception;
  }

  @Test
  void whatIsInUseStaysNothingRunsTwiceAndWhatIsIdleEnds() throws Exception {
    System.out.println("life: seed " + SEED);
    for (int i = 0; i < 12; i++) {
      warmUp(i % 2 == 1);
    }
    endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    try (ExecutorService lives = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 12; i++) {
        begin(lives, "HTTP/1.1 " + i, i, this::oneAfterTheOther);
        begin(lives, "HTTP/2 " + i, i, this::severalAtATime);
      }
      for (int i = 0; i < 4; i++) {
        begin(lives, "hits by HTTP/2 " + i, i, this::hits);
        begin(lives, "cut frames " + i, i, this::cutFrames);
        begin(lives, "WebSocket " + i, i, this::tunnel);
        begin(lives, "idle " + i, i, this::idle);
        begin(lives, "silent " + i, i, this::silent);
      }
    }
    wrongs.addAll(origin.wrongs);
    sent.forEach(
        (id, mayRepeat) -> {
          int times = origin.executions(id);
          if (times > 1 && !mayRepeat) {
            wrongs.add(id + " was executed " + times + " times");
          }
        });
    assertThat(wrongs).as("seed %d", SEED).isEmpty();
    assertThat(answers.get()).isGreaterThan(100);
    assertThat(origin.mischiefs.get()).isGreaterThan(5);
    Await.until(() -> origin.open.get() == 0, "idle connections to end");
  }

  /** What is done for the first time takes longer than the time-outs here. */
  private void warmUp(boolean secure) throws Exception {
    try (TestClient old = TestClient.over(socket(secure, "http/1.1"));
        TestH2Client client = h2(secure)) {
      String target = "/hit?id=" + id(true) + "&wait=0&pieces=1&gap=0";
      old.get(target).answer();
      client.headers(1, true, head(secure, "GET", target)).flush();
      client.answer(1);
    } catch (IOException | AssertionError | UncheckedIOException slow) {
      // The next one is faster.
    }
  }

  private void begin(ExecutorService lives, String name, int index, Life life) {
    lives.execute(
        () -> {
          try {
            life.live(new Random(SEED * 31 + name.hashCode()), index % 2 == 1);
          } catch (Exception | AssertionError wrong) {
            wrongs.add(name + ": " + wrong);
          }
        });
  }

  private boolean goesOn() {
    return endNanos - System.nanoTime() > 0;
  }

  /** One handshake at a time. */
  private synchronized Socket socket(boolean secure, String protocol)
      throws IOException, GeneralSecurityException {
    InetSocketAddress address = Journey.address(appliance.listening().get(secure ? 1 : 0));
    if (secure) {
      return ClientHellos.connect(address, "TLSv1.3", null, protocol);
    }
    Socket socket = new Socket();
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(60_000);
    socket.connect(address);
    return socket;
  }

  private TestH2Client h2(boolean secure) throws IOException, GeneralSecurityException {
    return TestH2Client.over(socket(secure, "h2"));
  }

  // What is asked

  /** Before, at and after each time: the length of the wait, or of a stream, as the seed has it. */
  private String target(Random random, String id) {
    long[] times = {0, 50, ORIGIN_IDLE_MILLIS, HEAD_MILLIS, IDLE_MILLIS + 900};
    long time = times[random.nextInt(times.length)] * (8 + random.nextInt(5)) / 10;
    boolean isStream = random.nextBoolean();
    int pieces = isStream ? 1 + random.nextInt(6) : 1;
    String lasts = isStream || random.nextBoolean() ? "/pass" : "/hit";
    return lasts
        + "?id="
        + id
        + "&wait="
        + (isStream ? 0 : time)
        + "&pieces="
        + pieces
        + "&gap="
        + (isStream ? time / pieces : 0);
  }

  private static String content(String target) {
    String pieces = target.replaceAll(".*pieces=(\\d+).*", "$1");
    return LifeOrigin.PIECE.repeat(Integer.parseInt(pieces));
  }

  private String id(boolean mayRepeat) {
    String id = (mayRepeat ? "r" : "x") + ids.incrementAndGet();
    sent.put(id, mayRepeat);
    return id;
  }

  private void check(String target, int status, String content) {
    answers.incrementAndGet();
    if (status != 200 || !content.equals(content(target))) {
      wrongs.add(target + ": " + status + ", " + content.length() + " octets");
    }
  }

  /** Waits, and says whether the connection may have ended as idle meanwhile. */
  private static boolean pause(Random random) throws InterruptedException {
    long[] tenths = {0, 0, 1, 3, 5, 10, 15};
    long time = IDLE_MILLIS * tenths[random.nextInt(tenths.length)] / 10;
    Thread.sleep(time);
    return time > IDLE_MILLIS / 2;
  }

  // Lives

  private void oneAfterTheOther(Random random, boolean secure) throws Exception {
    TestClient client = TestClient.over(socket(secure, "http/1.1"));
    while (goesOn()) {
      boolean isPost = random.nextInt(3) == 0;
      String target = target(random, id(false));
      boolean mayBeGone = pause(random);
      try {
        ask(client, target, isPost, random);
      } catch (AssertionError | UncheckedIOException gone) {
        if (!mayBeGone) {
          throw new AssertionError(target, gone);
        }
        client = TestClient.over(socket(secure, "http/1.1"));
      }
    }
    client.close();
  }

  private void ask(TestClient client, String target, boolean isPost, Random random)
      throws InterruptedException {
    if (isPost) {
      client.request("POST", target, "Content-Length: 300");
      for (int i = 0; i < 3; i++) {
        Thread.sleep(random.nextInt((int) IDLE_MILLIS));
        client.send(LifeOrigin.PIECE);
      }
    } else {
      client.send("GET " + target + " HTTP/1.1\r\nHo");
      Thread.sleep(random.nextInt((int) HEAD_MILLIS / 3));
      client.send("st: a.test\r\n\r\n");
    }
    TestClient.Answer answer = client.answer();
    check(target, answer.status(), answer.content());
  }

  private void severalAtATime(Random random, boolean secure) throws Exception {
    TestH2Client client = h2(secure);
    int stream = 1;
    while (goesOn()) {
      boolean mayBeGone = pause(random);
      int count = 1 + random.nextInt(3);
      String[] targets = new String[count];
      try {
        for (int i = 0; i < count; i++) {
          boolean isPost = random.nextInt(3) == 0;
          targets[i] = target(random, id(false));
          client.headers(
              stream + 2 * i, !isPost, head(secure, isPost ? "POST" : "GET", targets[i]));
          if (isPost) {
            client.flush();
            Thread.sleep(random.nextInt((int) IDLE_MILLIS));
            client.data(stream + 2 * i, LifeOrigin.PIECE, true);
          }
          client.flush();
        }
        for (int i = 0; i < count; i++) {
          var answer = client.answer(stream + 2 * i);
          check(targets[i], answer.status(), answer.content());
        }
        stream += 2 * count;
      } catch (AssertionError | UncheckedIOException gone) {
        if (!mayBeGone) {
          throw new AssertionError(Arrays.toString(targets), gone);
        }
        client = h2(secure);
        stream = 1;
      }
    }
    client.close();
  }

  private static String[] head(boolean secure, String method, String target) {
    String scheme = secure ? "https" : "http";
    return new String[] {
      ":method", method, ":scheme", scheme, ":authority", "127.0.0.1", ":path", target
    };
  }

  /** Nothing but hits: no sweep sees one under way. */
  private void hits(Random random, boolean secure) throws Exception {
    String target = "/hit?id=" + id(true) + "&wait=0&pieces=1&gap=0";
    try (TestH2Client client = h2(secure)) {
      for (int stream = 1; goesOn(); stream += 2) {
        client.headers(stream, true, head(secure, "GET", target)).flush();
        check(target, client.answer(stream).status(), content(target));
        Thread.sleep(50 + random.nextInt(300));
      }
    }
  }

  /** Each read ends within a frame, as those of a proxy that fills its socket. */
  private void cutFrames(Random random, boolean secure) throws Exception {
    String target = "/hit?id=" + id(true) + "&wait=0&pieces=1&gap=0";
    byte[] section = TestH2Client.section(head(secure, "GET", target));
    try (TestH2Client client = h2(secure)) {
      client.headers(1, true, head(secure, "GET", target)).flush();
      client.answer(1);
      byte[] begun = new byte[0];
      for (int stream = 3; goesOn(); stream += 2) {
        byte[] frame = frame(stream, section);
        int cut = 1 + random.nextInt(frame.length - 1);
        client.raw(begun).raw(Arrays.copyOf(frame, cut)).flush();
        begun = Arrays.copyOfRange(frame, cut, frame.length);
        if (stream > 3) {
          check(target, client.answer(stream - 2).status(), content(target));
        }
        Thread.sleep(50 + random.nextInt(200));
      }
    }
  }

  private static byte[] frame(int stream, byte[] section) {
    byte[] frame = new byte[9 + section.length];
    frame[2] = (byte) section.length;
    frame[3] = (byte) TestH2Client.HEADERS;
    frame[4] = TestH2Client.END_HEADERS | 1;
    frame[7] = (byte) (stream >> 8);
    frame[8] = (byte) stream;
    System.arraycopy(section, 0, frame, 9, section.length);
    return frame;
  }

  private void tunnel(Random random, boolean secure) throws Exception {
    TestClient client = TestClient.over(socket(secure, "http/1.1"));
    client.get("/ws", "Connection: Upgrade", "Upgrade: websocket");
    client.readUntil("\r\n\r\n");
    while (goesOn()) {
      client.send("x");
      assertThat(client.read(1)).isEqualTo("x");
      Thread.sleep(random.nextInt(2 * (int) IDLE_MILLIS));
    }
    client.close();
  }

  private void idle(Random random, boolean secure) throws Exception {
    Socket socket = socket(secure, "http/1.1");
    TestClient client = TestClient.over(socket);
    String target = target(random, id(false));
    ask(client, target, false, random);
    endsAfter(IDLE_MILLIS, client);
  }

  private void silent(Random random, boolean secure) throws Exception {
    Socket socket = socket(secure, "h2");
    Thread.sleep(random.nextInt(50));
    socket.getOutputStream().write((secure ? "PRI * HT" : "PRI").getBytes(ISO_8859_1));
    endsAfter(HEAD_MILLIS, TestClient.over(socket));
  }

  private void endsAfter(long millis, TestClient client) {
    long start = System.nanoTime();
    client.rest();
    long lasted = (System.nanoTime() - start) / 1_000_000;
    if (lasted < millis * 8 / 10 || lasted > millis + LATE_MILLIS) {
      wrongs.add("an idle connection ended after " + lasted + " ms in place of " + millis);
    }
    client.close();
  }
}
