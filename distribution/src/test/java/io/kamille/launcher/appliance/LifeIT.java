package io.kamille.launcher.appliance;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h2.TestH2Client;
import io.kamille.core.http.WebSocketKey;
import io.kamille.core.tls.Certificates;
import io.kamille.core.tls.ClientHellos;
import io.kamille.launcher.appliance.PeerNodes.Node;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Connections of every kind through days that last seconds: what is in use is not closed, nothing
 * is executed twice, what was not processed is sent again, and what is idle ends.
 *
 * <p>All go at once, before one appliance and two nodes of a cluster with short time-outs. {@code
 * -Dkamille.life=SECONDS} makes it longer, {@code -Dkamille.life.seed=SEED} repeats one.
 */
class LifeIT {

  private static final long HEAD_MILLIS = 2_000;
  private static final long IDLE_MILLIS = 3_000;
  private static final long ORIGIN_IDLE_MILLIS = 600;

  /** A sweep comes once a second, on a machine that has other things to do. */
  private static final long LATE_MILLIS = 4_000;

  private static final long SECONDS = Long.getLong("kamille.life", 8);
  private static final long SEED = Long.getLong("kamille.life.seed", System.nanoTime() & 0xfffff);

  private static final String LIMITS = "limits: {head-timeout: 2s, idle-timeout: 3s}";
  private static final String BUFFERED = "1MiB";
  private static final String UNBUFFERED = "off";

  /** Whoever wakes so late is on a machine that stood still, and time-outs have passed unasked. */
  private static final long STALL_MILLIS = 1_000;

  private static final long WATCH_MILLIS = 100;

  /** A way to an origin. */
  private record Way(String path, LifeOrigin origin, boolean isRough, boolean isBuffered) {

    @Override
    public String toString() {
      return path;
    }
  }

  /** Where clients come in, and what is behind it. */
  private record Door(InetSocketAddress address, boolean isSecure, List<Way> ways) {}

  /** One request, and what may become of it. */
  private record Asked(
      Way way, String method, String id, String target, boolean isCut, long nanos) {

    /** By the model: who breaks off says so, and what was not begun may be unknown. */
    boolean mayFail(long stalledNanos) {
      if (stalledNanos - nanos > 0) {
        return true;
      }
      boolean isRepeatable = method.equals("GET") || (method.equals("PUT") && way.isBuffered());
      return way.isRough()
          && (way.origin().hasBroken(id) || (!isRepeatable && way.origin().executions(id) == 0));
    }

    boolean hasContent() {
      return !method.equals("GET");
    }
  }

  @RegisterExtension private final PeerNodes cluster = new PeerNodes();
  @TempDir private Path directory;

  private final Queue<String> wrongs = new ConcurrentLinkedQueue<>();
  private final Queue<Asked> sent = new ConcurrentLinkedQueue<>();
  private final AtomicInteger ids = new AtomicInteger();
  private final AtomicInteger answers = new AtomicInteger();
  private final AtomicInteger failures = new AtomicInteger();
  private final AtomicLong stalledNanos = new AtomicLong(System.nanoTime());
  private final CountDownLatch over = new CountDownLatch(1);
  private final Certificates authority = new Certificates("authority");
  private final List<LifeOrigin> origins = new ArrayList<>();
  private final LifeOrigin steady = origin(false, false);
  private final StubOrigin old = StubOrigin.open();
  private final List<Way> ways =
      List.of(
          new Way("h2c", steady, false, true),
          new Way("h1", origin(false, true), true, true),
          new Way("h1s", origin(true, true), true, false),
          new Way("h2", origin(true, true), true, false));
  private @Nullable Appliance appliance;
  private final List<Door> doors = new ArrayList<>();

  LifeIT() throws Exception {
    old.on("/ws", LifeIT::echo);
  }

  private LifeOrigin origin(boolean isSecure, boolean isRough) throws Exception {
    SSLContext tls = isSecure ? Certificates.server(authority.ecdsa("127.0.0.1")) : null;
    LifeOrigin origin = new LifeOrigin(SEED + origins.size(), tls, isRough, over);
    origins.add(origin);
    return origin;
  }

  private void begin() throws Exception {
    Path trusted = directory.resolve("ca.pem");
    Certificates.writeAuthority(authority, trusted);
    String tls = ", tls: {ca: '" + trusted + "'}";
    appliance =
        Journey.start(
            "listeners: [{address: '127.0.0.1:0', protocols: [h2c, http/1.1]},"
                + " {address: '127.0.0.1:0', tls: self-signed}]",
            "loops: 2",
            LIMITS,
            "upstreams: {h2c: "
                + upstream("http", steady.port(), BUFFERED, ", protocol: h2c")
                + ", h1: "
                + upstream("http", ways.get(1).origin().port(), BUFFERED, "")
                + ", h1s: "
                + upstream(
                    "https", ways.get(2).origin().port(), UNBUFFERED, ", protocol: http/1.1" + tls)
                + ", h2: "
                + upstream("https", ways.get(3).origin().port(), UNBUFFERED, ", protocol: h2" + tls)
                + ", old: "
                + upstream("http", old.port(), BUFFERED, "")
                + "}",
            "routes: [{path: /ws, upstream: old, upgrades: [websocket]}, {path: /h2c, upstream:"
                + " h2c}, {path: /h1, upstream: h1}, {path: /h1s, upstream: h1s}, {path: /h2,"
                + " upstream: h2}]",
            "cache: {memory: {capacity: 16MiB}}",
            "log: {level: error}",
            "admin: {address: off}");
    cluster
        .with(
            LIMITS,
            "upstreams: {site: "
                + upstream("http", steady.port(), BUFFERED, ", protocol: h2c")
                + "}")
        .start(2, ", copies: none");
    for (int i = 0; i < 2; i++) {
      doors.add(new Door(Journey.address(appliance.listening().get(i)), i == 1, ways));
    }
    for (Node node : cluster.nodes) {
      InetSocketAddress address = Journey.address(node.appliance.listening().getFirst());
      doors.add(new Door(address, false, List.of(new Way("node", steady, false, true))));
    }
  }

  private static String upstream(String scheme, int port, String buffer, String more) {
    return "{origins: ['"
        + scheme
        + "://127.0.0.1:"
        + port
        + "'], idle-timeout: "
        + ORIGIN_IDLE_MILLIS
        + "ms, connect-timeout: 30s, upload-buffer: "
        + buffer
        + ", health: {failures: 1000, failure-ratio: off}"
        + more
        + "}";
  }

  @AfterEach
  void close() throws IOException {
    over.countDown();
    if (appliance != null) {
      appliance.close();
    }
    for (LifeOrigin origin : origins) {
      origin.close();
    }
    old.close();
  }

  private static void echo(StubOrigin.Visit visit) throws IOException {
    String key = visit.request().field(WebSocketKey.FIELD);
    visit.send(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + (key == null
                ? ""
                : WebSocketKey.ANSWER_FIELD + ": " + WebSocketKey.answer(key) + "\r\n")
            + "\r\n");
    for (int octet = visit.in().read(); octet >= 0; octet = visit.in().read()) {
      visit.out().write(octet);
    }
  }

  /** What one client does until its time is over. */
  private interface Life {
    void live(Random random, Door door) throws Exception;
  }

  @Test
  void whatIsInUseStaysNothingRunsTwiceAndWhatIsIdleEnds() throws Exception {
    System.out.println("life: seed " + SEED);
    begin();
    for (int i = 0; i < 8; i++) {
      warmUp(doors.get(i % doors.size()));
    }
    long begunNanos = System.nanoTime();
    try (ExecutorService lives = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 12; i++) {
        begin(lives, "HTTP/1.1 " + i, i, this::oneAfterTheOther);
        begin(lives, "HTTP/2 " + i, i % 2, this::severalAtATime);
      }
      for (int i = 0; i < 4; i++) {
        begin(lives, "by a node " + i, 2 + i % 2, this::oneAfterTheOther);
        begin(lives, "hits by HTTP/2 " + i, i % 2, this::hits);
        begin(lives, "cut frames " + i, i % 2, this::cutFrames);
        begin(lives, "WebSocket " + i, i % 2, this::tunnel);
        begin(lives, "WebSocket by HTTP/2 " + i, i % 2, this::tunnelInStream);
        begin(lives, "leaving " + i, i, this::leave);
        begin(lives, "idle " + i, i % 2, this::idle);
        begin(lives, "silent " + i, i % 2, this::silent);
      }
      lives.execute(this::watch);
      over.await(SECONDS, TimeUnit.SECONDS);
      over.countDown();
    }
    origins.forEach(origin -> wrongs.addAll(origin.wrongs));
    for (Asked asked : sent) {
      int times = asked.way().origin().executions(asked.id());
      boolean mayRepeat =
          asked.id().startsWith("r")
              || (!asked.method().equals("POST") && asked.way().origin().hasBroken(asked.id()));
      if (times > 1 && !mayRepeat) {
        wrongs.add(asked + " was executed " + times + " times");
      }
    }
    assertThat(wrongs).as("seed %d", SEED).isEmpty();
    if (stalledNanos.get() - begunNanos <= 0) {
      assertThat(answers.get()).isGreaterThan(100);
      assertThat(failures.get()).as("failures that the model allows").isLessThan(answers.get() / 3);
      assertThat(origins.stream().mapToInt(origin -> origin.mischiefs.get()).sum())
          .isGreaterThan(5);
    }
    for (LifeOrigin origin : origins) {
      Await.until(() -> origin.open.get() == 0, "idle connections to end");
    }
  }

  /** What is done for the first time takes longer than the time-outs here. */
  private void warmUp(Door door) throws Exception {
    try (TestClient old = TestClient.over(socket(door, "http/1.1"))) {
      String target = hit(door);
      old.get(target).answer();
      if (door.ways().size() > 1) {
        TestH2Client client = h2(door);
        client.headers(1, true, head(door, "GET", target)).flush();
        client.answer(1);
        client.close();
      }
    } catch (IOException | AssertionError | UncheckedIOException slow) {
      // The next one is faster.
    }
  }

  private void begin(ExecutorService lives, String name, int door, Life life) {
    Random random = new Random(SEED * 31 + name.hashCode());
    lives.execute(
        () -> {
          boolean isAgain = true;
          while (isAgain) {
            isAgain = !lived(name, life, random, doors.get(door % doors.size())) && goesOn();
          }
        });
  }

  /** Whether it came to its end, and not to that of a machine that stood still. */
  private boolean lived(String name, Life life, Random random, Door door) {
    long begun = System.nanoTime();
    try {
      life.live(random, door);
    } catch (Exception | AssertionError wrong) {
      long longest = TimeUnit.MILLISECONDS.toNanos(IDLE_MILLIS + HEAD_MILLIS);
      if (stalledNanos.get() - Math.max(begun, System.nanoTime() - longest) > 0) {
        return false;
      }
      wrongs.add(name + ": " + wrong + (wrong.getCause() == null ? "" : wrong.getCause()));
      over.countDown();
    }
    return true;
  }

  private boolean goesOn() {
    return over.getCount() > 0;
  }

  /** Lets time pass, unless it is all over. */
  private void pass(long millis) throws InterruptedException {
    long due = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    if (!over.await(millis, TimeUnit.MILLISECONDS)) {
      noteStall(due, STALL_MILLIS);
    }
  }

  private void noteStall(long dueNanos, long millis) {
    long now = System.nanoTime();
    if (now - dueNanos > TimeUnit.MILLISECONDS.toNanos(millis)) {
      stalledNanos.set(now);
    }
  }

  /** A machine that stands still again and again sums up to a time-out. */
  private void watch() {
    try {
      while (goesOn()) {
        long due = System.nanoTime();
        over.await(WATCH_MILLIS, TimeUnit.MILLISECONDS);
        noteStall(due, 4 * WATCH_MILLIS);
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  /** One handshake at a time. */
  private synchronized Socket socket(Door door, String protocol)
      throws IOException, GeneralSecurityException {
    while (door.isSecure()) {
      long due = System.nanoTime();
      try {
        Socket secured = ClientHellos.connect(door.address(), "TLSv1.3", null, protocol);
        noteStall(due, STALL_MILLIS);
        return secured;
      } catch (IOException broken) {
        noteStall(due, STALL_MILLIS);
        if (stalledNanos.get() - due <= 0) {
          throw broken;
        }
      }
    }
    Socket socket = new Socket();
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(60_000);
    socket.connect(door.address());
    return socket;
  }

  private TestH2Client h2(Door door) throws IOException, GeneralSecurityException {
    return TestH2Client.over(socket(door, "h2"));
  }

  // What is asked

  /** Before, at and after each time: the length of the wait, or of a stream, as the seed has it. */
  private Asked asked(Random random, Door door, String kind) {
    Way way = door.ways().get(random.nextInt(door.ways().size()));
    String method = random.nextInt(3) > 0 ? "GET" : random.nextBoolean() ? "POST" : "PUT";
    long[] times = {0, 50, ORIGIN_IDLE_MILLIS, HEAD_MILLIS, IDLE_MILLIS + 900};
    long time = times[random.nextInt(times.length)] * (8 + random.nextInt(5)) / 10;
    boolean isStream = random.nextBoolean();
    int pieces = isStream ? 1 + random.nextInt(6) : 1;
    boolean isCut = way.isRough() && random.nextInt(12) == 0;
    String lasts = isStream || random.nextBoolean() ? "pass" : "hit";
    String id = kind + ids.incrementAndGet();
    String target =
        "/"
            + way.path()
            + "/"
            + lasts
            + "?id="
            + id
            + "&wait="
            + (isStream ? 0 : time)
            + "&pieces="
            + pieces
            + "&gap="
            + (isStream ? time / pieces : 0)
            + "&cut="
            + (isCut ? random.nextInt(pieces + 1) : "");
    Asked asked = new Asked(way, method, id, target, isCut, System.nanoTime());
    sent.add(asked);
    return asked;
  }

  /** By a node, the first owner may be given up while it is slow. */
  private static String kind(Door door) {
    return door.ways().size() > 1 ? "x" : "r";
  }

  private String hit(Door door) {
    String way = door.ways().getFirst().path();
    return "/" + way + "/hit?id=r" + ids.incrementAndGet() + "&wait=0&pieces=1&gap=0&cut=";
  }

  private static String content(String target) {
    String pieces = target.replaceAll(".*pieces=(\\d+).*", "$1");
    return LifeOrigin.PIECE.repeat(Integer.parseInt(pieces));
  }

  private void check(Asked asked, int status, String content, @Nullable String why) {
    boolean isWhole = status == 200 && content.equals(content(asked.target())) && !asked.isCut();
    // A machine that stands still makes answers late, and loses none.
    long stalled = status == 502 ? asked.nanos() : stalledNanos.get();
    if (isWhole || asked.mayFail(stalled)) {
      (isWhole ? answers : failures).incrementAndGet();
    } else {
      wrongs.add(asked + ": " + status + " (" + why + "), " + content.length() + " octets");
      over.countDown();
    }
  }

  private void check(String target, int status, String content) {
    answers.incrementAndGet();
    if (status != 200 || !content.equals(content(target))) {
      wrongs.add(target + ": " + status + ", " + content.length() + " octets");
    }
  }

  /** Waits, and says whether the connection may have ended as idle meanwhile. */
  private boolean pause(Random random) throws InterruptedException {
    long[] tenths = {0, 0, 1, 3, 5, 10, 15};
    long start = System.nanoTime();
    pass(IDLE_MILLIS * tenths[random.nextInt(tenths.length)] / 10);
    return System.nanoTime() - start > TimeUnit.MILLISECONDS.toNanos(IDLE_MILLIS / 2);
  }

  // Lives

  private void oneAfterTheOther(Random random, Door door) throws Exception {
    TestClient client = TestClient.over(socket(door, "http/1.1"));
    while (goesOn()) {
      Asked asked = asked(random, door, kind(door));
      boolean mayBeGone = pause(random);
      try {
        if (!ask(client, asked, random)) {
          client.close();
          client = TestClient.over(socket(door, "http/1.1"));
        }
      } catch (AssertionError | UncheckedIOException gone) {
        if (!mayBeGone && !asked.mayFail(stalledNanos.get())) {
          throw new AssertionError(asked.toString(), gone);
        }
        client = TestClient.over(socket(door, "http/1.1"));
      }
    }
    client.close();
  }

  /** Whether the connection may go on. */
  private boolean ask(TestClient client, Asked asked, Random random) throws InterruptedException {
    if (asked.hasContent()) {
      client.request(asked.method(), asked.target(), "Content-Length: 300");
      for (int i = 0; i < 3; i++) {
        pass(random.nextInt((int) IDLE_MILLIS));
        client.send(LifeOrigin.PIECE);
      }
    } else {
      client.send("GET " + asked.target() + " HTTP/1.1\r\nHo");
      pass(random.nextInt((int) HEAD_MILLIS / 3));
      client.send("st: a\r\n\r\n");
    }
    TestClient.Answer answer = client.answer();
    check(asked, answer.status(), answer.content(), answer.field("Proxy-Status"));
    return answer.status() == 200 && answer.field("Connection") == null;
  }

  private void severalAtATime(Random random, Door door) throws Exception {
    TestH2Client client = h2(door);
    int stream = 1;
    while (goesOn()) {
      boolean mayBeGone = pause(random);
      int count = 1 + random.nextInt(3);
      Asked[] asked = new Asked[count];
      try {
        for (int i = 0; i < count; i++) {
          asked[i] = asked(random, door, "x");
          String[] head = head(door, asked[i].method(), asked[i].target());
          client.headers(stream + 2 * i, !asked[i].hasContent(), head).flush();
          for (int pieces = asked[i].hasContent() ? 3 : 0; pieces > 0; pieces--) {
            pass(random.nextInt((int) IDLE_MILLIS / 2));
            client.data(stream + 2 * i, LifeOrigin.PIECE, pieces == 1).flush();
          }
        }
        for (int i = 0; i < count; i++) {
          answer(client, stream + 2 * i, asked[i]);
        }
        stream += 2 * count;
      } catch (AssertionError | UncheckedIOException gone) {
        if (!mayBeGone && stalledNanos.get() - asked[0].nanos() <= 0) {
          throw new AssertionError(Arrays.toString(asked), gone);
        }
        client = h2(door);
        stream = 1;
      }
    }
    client.close();
  }

  /** A stream that is broken off leaves the others. */
  private void answer(TestH2Client client, int stream, Asked asked) {
    try {
      var answer = client.answer(stream);
      check(asked, answer.status(), answer.content(), answer.fields().get("proxy-status"));
    } catch (AssertionError reset) {
      if (!asked.mayFail(stalledNanos.get())
          || String.valueOf(reset.getMessage()).contains("connection")) {
        throw reset;
      }
      failures.incrementAndGet();
    }
  }

  private static String[] head(Door door, String method, String target) {
    String scheme = door.isSecure() ? "https" : "http";
    return new String[] {
      ":method", method, ":scheme", scheme, ":authority", "127.0.0.1", ":path", target
    };
  }

  /** Nothing but hits: no sweep sees one under way. */
  private void hits(Random random, Door door) throws Exception {
    String target = hit(door);
    try (TestH2Client client = h2(door)) {
      for (int stream = 1; goesOn(); stream += 2) {
        client.headers(stream, true, head(door, "GET", target)).flush();
        check(target, client.answer(stream).status(), content(target));
        pass(50 + random.nextInt(300));
      }
    }
  }

  /** Each read ends within a frame, as those of a proxy that fills its socket. */
  private void cutFrames(Random random, Door door) throws Exception {
    String target = hit(door);
    byte[] section = TestH2Client.section(head(door, "GET", target));
    try (TestH2Client client = h2(door)) {
      client.headers(1, true, head(door, "GET", target)).flush();
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
        pass(50 + random.nextInt(200));
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

  private void tunnel(Random random, Door door) throws Exception {
    TestClient client = TestClient.over(socket(door, "http/1.1"));
    client.get("/ws", "Connection: Upgrade", "Upgrade: websocket");
    client.readUntil("\r\n\r\n");
    while (goesOn()) {
      client.send("x");
      assertThat(client.read(1)).isEqualTo("x");
      pass(random.nextInt(2 * (int) IDLE_MILLIS));
    }
    client.close();
  }

  /** RFC 8441, beside requests on other streams. */
  private void tunnelInStream(Random random, Door door) throws Exception {
    String target = hit(door);
    try (TestH2Client client = h2(door)) {
      String[] head = head(door, "CONNECT", "/ws");
      String[] all = Arrays.copyOf(head, head.length + 4);
      System.arraycopy(
          new String[] {":protocol", "websocket", "sec-websocket-version", "13"},
          0,
          all,
          head.length,
          4);
      client.headers(1, false, all).flush();
      assertThat(client.head(1).status()).isEqualTo(200);
      for (int stream = 3; goesOn(); stream += 2) {
        client.data(1, "x", false).flush();
        assertThat(client.await(TestH2Client.DATA, 1).payload()).containsExactly('x');
        if (random.nextInt(4) == 0) {
          client.headers(stream, true, head(door, "GET", target)).flush();
          check(target, client.answer(stream).status(), content(target));
        }
        pass(random.nextInt(2 * (int) IDLE_MILLIS));
      }
    }
  }

  /** In the middle of whatever it is. */
  private void leave(Random random, Door door) throws Exception {
    while (goesOn()) {
      Asked asked = asked(random, door, LifeOrigin.LEAVES);
      Socket socket = socket(door, door.ways().size() > 1 ? "h2" : "http/1.1");
      boolean isNew = door.ways().size() > 1;
      if (isNew) {
        String[] head = head(door, asked.method(), asked.target());
        TestH2Client client = TestH2Client.over(socket).headers(1, !asked.hasContent(), head);
        client.headers(3, true, head(door, "GET", hit(door))).flush();
        pass(random.nextInt(1_500));
        if (random.nextBoolean()) {
          client.reset(1).settle();
          client.answer(3);
        }
      } else {
        TestClient.over(socket)
            .request(
                asked.method(), asked.target(), asked.hasContent() ? "Content-Length: 9" : "A: b");
        pass(random.nextInt(1_500));
      }
      if (random.nextBoolean()) {
        socket.setSoLinger(true, 0);
      }
      socket.close();
    }
  }

  private void idle(Random random, Door door) throws Exception {
    TestClient client = TestClient.over(socket(door, "http/1.1"));
    client.get(hit(door)).answer();
    endsAfter(IDLE_MILLIS, client);
  }

  private void silent(Random random, Door door) throws Exception {
    Socket socket = socket(door, "h2");
    pass(random.nextInt(50));
    socket.getOutputStream().write((door.isSecure() ? "PRI * HT" : "PRI").getBytes(ISO_8859_1));
    endsAfter(HEAD_MILLIS, TestClient.over(socket));
  }

  private void endsAfter(long millis, TestClient client) {
    long start = System.nanoTime();
    client.rest();
    long lasted = (System.nanoTime() - start) / 1_000_000;
    boolean isLate = lasted > millis + LATE_MILLIS && stalledNanos.get() - start <= 0;
    if (lasted < millis * 8 / 10 || isLate) {
      wrongs.add("an idle connection ended after " + lasted + " ms in place of " + millis);
    }
    client.close();
  }
}
