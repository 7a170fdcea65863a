package io.kamille.perf.soak;

import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One client: does one thing after the other, well-behaved or not. Confined to its thread. */
final class SoakClient {

  /**
   * What all clients share.
   *
   * @param port of the proxy
   * @param crowds how many crowds there may be at once
   */
  record Scene(int port, Versions versions, Tally tally, Semaphore crowds) {}

  private static final int THINK_MILLIS = 40;
  private static final int SLOW_PIECES = 40;
  private static final int SLOW_MILLIS = 80;
  private static final int PIPELINED = 6;
  private static final int CROWD = 24;
  private static final int UPLOAD_BYTES = 100_000;
  private static final int SLOW_UPLOAD_BYTES = 2_000;
  private static final int CHUNK_BYTES = 4_000;
  private static final double CLOSING = 0.15;
  private static final List<Family> STORED =
      List.of(Family.PAGE, Family.TEXT, Family.VARY, Family.SHORT);

  private final Scene scene;
  private final SplittableRandom random;
  private @Nullable ClientConnection kept;
  private @Nullable Wanted lastWanted;
  private @Nullable String lastTag;

  SoakClient(Scene scene, SplittableRandom random) {
    this.scene = scene;
    this.random = random;
  }

  /** Does one thing after the other until the time is over, by {@link System#nanoTime}. */
  void run(long endNanos) {
    while (System.nanoTime() - endNanos < 0) {
      Deed deed = Deed.any(random);
      scene.tally().count("deed." + deed);
      try {
        perform(deed);
      } catch (SocketTimeoutException e) {
        scene.tally().fail(deed + ": no answer, and no end of the connection");
        drop();
      } catch (ProtocolException | RuntimeException e) {
        scene.tally().fail(deed + ": an answer that cannot be read: " + e);
        drop();
      } catch (IOException e) {
        scene.tally().count("broken." + deed);
        drop();
      }
      pause(random.nextInt(THINK_MILLIS));
    }
    drop();
  }

  private void perform(Deed deed) throws IOException {
    switch (deed) {
      case GET -> ask(get(any()));
      case GET_CODED -> ask(get(Subject.any(Family.TEXT, random)).gzip());
      case GET_SHAKY -> ask(get(Subject.any(Family.SHAKY, random)));
      case GET_LARGE -> ask(get(Subject.any(Family.LARGE, random)));
      case RANGE -> range();
      case HEAD -> ask(get(any()).head());
      case CONDITIONAL -> conditional();
      case OLD_VERSION -> oldVersion();
      case PIPELINE -> pipeline();
      case POST -> post(any(), random.nextBoolean());
      case POST_SHAKY -> post(Subject.any(Family.SHAKY, random), true);
      case POST_SLOW -> postSlowly();
      case PURGE -> purge();
      case CROWD -> crowd();
      case READ_SLOWLY -> readSlowly();
      case LEAVE_BEFORE_HEAD -> leave("");
      case LEAVE_IN_HEAD -> leaveInHead();
      case LEAVE_IN_REQUEST_CONTENT -> leaveInRequestContent();
      case LEAVE_BEFORE_ANSWER -> leave(get(any()).text("1.1"));
      case LEAVE_IN_CONTENT -> leaveInContent();
      case BROKEN -> sendBroken();
    }
  }

  private Subject any() {
    int choice = random.nextInt(20);
    return Subject.any(
        choice == 0 ? Family.PASS : STORED.get(random.nextInt(STORED.size())), random);
  }

  private Wanted get(Subject subject) {
    return Wanted.get(scene.versions(), subject, random.nextInt(subject.family().variants()));
  }

  /** Sends it on the connection at hand; again on a new one if that turns out to be over. */
  private void ask(Wanted wanted) throws IOException {
    ClientConnection connection = connection();
    boolean isUsed = connection.isUsed();
    Head head = null;
    try {
      connection.send(wanted.text("1.1"));
      head = connection.in().head();
    } catch (SocketTimeoutException e) {
      throw e;
    } catch (IOException e) {
      head = null;
    }
    if (head != null) {
      receive(connection, wanted, head);
    } else if (isUsed) {
      drop();
      scene.tally().count("again");
      ask(wanted);
    } else {
      scene.tally().fail("no answer to " + wanted.method() + " " + wanted.subject().target());
      drop();
    }
  }

  private void receive(ClientConnection connection, Wanted wanted, Head head) throws IOException {
    Verdict verdict = verify(connection, wanted, head, scene);
    if (verdict.kind() == Verdict.Kind.CONTENT) {
      lastWanted = wanted;
      lastTag = head.field("etag");
    }
    if (head.isLast() || random.nextDouble() < CLOSING) {
      drop();
    }
  }

  /** Reads an answer whose head is there, to its end. */
  private static Verdict verify(ClientConnection connection, Wanted wanted, Head head, Scene scene)
      throws IOException {
    var verdict = new Verdict(wanted, head, scene.versions());
    Tally tally = scene.tally();
    try {
      if (!wanted.isHead() && head.status() != 304) {
        connection.in().content(head, true, verdict);
      }
      verdict.complete();
      tally.count("answer." + verdict.kind());
      tally.count("cache." + cacheStatus(head));
      if (verdict.kind() == Verdict.Kind.TROUBLE && wanted.subject().family() != Family.SHAKY) {
        tally.count("unexpected-trouble");
        tally.count("trouble." + head.status() + " " + head.field("proxy-status"));
      }
    } catch (EOFException e) {
      if (wanted.subject().family() != Family.SHAKY) {
        tally.count("unexpected-break");
      }
      throw e;
    } finally {
      String fault = verdict.fault();
      if (fault != null) {
        tally.fail(fault);
      }
    }
    return verdict;
  }

  private static String cacheStatus(Head head) {
    String value = head.field("cache-status");
    if (value == null) {
      return "none";
    }
    String[] words = value.split("; ", -1);
    return words.length < 2 ? value : words[1];
  }

  private void range() throws IOException {
    Subject subject = random.nextInt(4) == 0 ? Subject.any(Family.LARGE, random) : any();
    int length = subject.length();
    if (length == 0 || subject.isNegative()) {
      return;
    }
    int first = random.nextInt(length);
    int last = first + random.nextInt(2 * (length - first));
    Wanted whole = get(subject);
    String tag = Subject.entityTag(whole.variant(), scene.versions().current(subject));
    ask(whole.range(first, last, random.nextInt(4) == 0 ? tag : null));
  }

  private void conditional() throws IOException {
    Wanted before = lastWanted;
    String tag = lastTag;
    if (before == null || tag == null) {
      ask(get(any()));
    } else {
      ask(Wanted.get(scene.versions(), before.subject(), before.variant()).unless(tag));
    }
  }

  private void oldVersion() throws IOException {
    Subject subject = Subject.any(Family.PAGE, random);
    try (var connection = ClientConnection.open(scene.port())) {
      Wanted wanted = get(subject);
      connection.send(wanted.text("1.0"));
      Head head = connection.in().head();
      if (head == null) {
        scene.tally().fail("no answer to HTTP/1.0 " + subject.target());
      } else if (head.contentLength() >= 0) {
        verify(connection, wanted, head, scene);
      } else {
        // Nobody can tell whether it is complete.
        connection.in().content(head, true, new Verdict(wanted, head, scene.versions()));
      }
    }
  }

  private void pipeline() throws IOException {
    drop();
    var all = new ArrayList<Wanted>();
    var text = new StringBuilder();
    for (int i = 0; i < PIPELINED; i++) {
      Wanted wanted = get(any());
      all.add(wanted);
      text.append(wanted.text("1.1"));
    }
    ClientConnection connection = connection();
    connection.send(text.toString());
    for (Wanted wanted : all) {
      Head head = connection.in().head();
      if (head == null) {
        scene.tally().count("pipeline-ended");
        break;
      }
      verify(connection, wanted, head, scene);
      if (head.isLast()) {
        break;
      }
    }
    drop();
  }

  private void post(Subject subject, boolean isChunked) throws IOException {
    drop();
    int length = random.nextInt(UPLOAD_BYTES);
    ClientConnection connection = connection();
    sendContent(connection, subject, length, length, isChunked, 0);
    acknowledged(connection, subject);
    drop();
  }

  private void postSlowly() throws IOException {
    drop();
    Subject subject = any();
    ClientConnection connection = connection();
    int length = SLOW_UPLOAD_BYTES;
    sendContent(connection, subject, length, length, random.nextBoolean(), SLOW_MILLIS);
    acknowledged(connection, subject);
    drop();
  }

  /** Sends the head of a POST and the first octets of its content. */
  private void sendContent(
      ClientConnection connection,
      Subject subject,
      int length,
      int sent,
      boolean isChunked,
      int pauseMillis)
      throws IOException {
    String framing =
        isChunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: " + length + "\r\n";
    connection.send(
        Wanted.beginning("POST", subject, "1.1") + framing + "X-Length: " + length + "\r\n\r\n");
    SoakContent content = SoakContent.of(subject, 0, 0);
    int most = pauseMillis > 0 ? length / 10 : CHUNK_BYTES;
    for (int position = 0; position < sent; ) {
      int count = Math.min(sent - position, 1 + random.nextInt(most));
      if (isChunked) {
        connection.send(Integer.toHexString(count) + "\r\n");
      }
      content.write(connection.out(), position, count);
      if (isChunked) {
        connection.send("\r\n");
      }
      position += count;
      pause(pauseMillis);
    }
    if (isChunked && sent == length) {
      connection.send("0\r\n\r\n");
    }
  }

  /** When the answer is there, no request may get what was before. */
  private void acknowledged(ClientConnection connection, Subject subject) throws IOException {
    Head head = connection.in().head();
    if (head == null) {
      scene.tally().count("post-unanswered");
    } else if (head.status() == 204) {
      String version = head.field("x-version");
      if (version == null) {
        scene.tally().fail("POST " + subject.target() + " without a version: " + head);
      } else {
        scene.versions().forbidBefore(subject, Long.parseLong(version));
        scene.tally().count("invalidated");
      }
    } else {
      scene.tally().count("post." + head.status());
    }
  }

  private void purge() throws IOException {
    Subject subject = any();
    long version = scene.versions().change(subject);
    try (var connection = ClientConnection.open(scene.port())) {
      connection.send(Wanted.beginning("PURGE", subject, "1.1") + "\r\n");
      Head head = connection.in().head();
      if (head != null && head.status() == 200) {
        scene.versions().forbidBefore(subject, version);
        scene.tally().count("purged");
      } else {
        scene.tally().fail("PURGE " + subject.target() + ": " + head);
      }
    }
  }

  /** Many ask for one thing at once, which has just been changed; some do not stay. */
  private void crowd() throws IOException {
    if (!scene.crowds().tryAcquire()) {
      return;
    }
    try {
      Subject subject =
          random.nextInt(3) == 0
              ? Subject.any(Family.LARGE, random)
              : random.nextInt(3) == 0 ? Subject.any(Family.SHAKY, random) : any();
      post(subject, false);
      var threads = new ArrayList<Thread>();
      for (int i = 0; i < CROWD; i++) {
        SplittableRandom own = random.split();
        threads.add(Thread.ofVirtual().start(() -> joinCrowd(subject, own)));
      }
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      scene.crowds().release();
    }
  }

  private void joinCrowd(Subject subject, SplittableRandom own) {
    var member = new SoakClient(scene, own);
    try {
      Wanted wanted = member.get(subject);
      if (own.nextInt(4) == 0) {
        member.leaveInContent(wanted);
      } else {
        member.ask(wanted);
      }
    } catch (SocketTimeoutException e) {
      scene.tally().fail("crowd: no answer, and no end of the connection");
    } catch (IOException e) {
      scene.tally().count("broken.crowd-member");
    } finally {
      member.drop();
    }
  }

  private void readSlowly() throws IOException {
    Subject subject = Subject.any(random.nextBoolean() ? Family.LARGE : Family.SHAKY, random);
    try (var connection = ClientConnection.openSlow(scene.port())) {
      Wanted wanted = get(subject);
      connection.send(wanted.text("1.1"));
      Head head = connection.in().head();
      if (head == null) {
        scene.tally().fail("no answer to a slow reader of " + subject.target());
        return;
      }
      var verdict = new Verdict(wanted, head, scene.versions());
      try {
        connection.in().content(head, true, slowly(verdict));
        verdict.complete();
      } finally {
        blame(verdict);
      }
    }
  }

  /** In small pieces; whoever has not had all by the last of them leaves. */
  private static MessageReader.Sink slowly(Verdict verdict) {
    int[] pieces = {SLOW_PIECES};
    return (octets, from, count) -> {
      verdict.take(octets, from, count);
      if (pieces[0]-- == 0) {
        throw new IOException("enough");
      }
      pause(SLOW_MILLIS);
    };
  }

  private void blame(Verdict verdict) {
    String fault = verdict.fault();
    if (fault != null) {
      scene.tally().fail(fault);
    }
  }

  private void leave(String sent) throws IOException {
    ClientConnection connection = ClientConnection.open(scene.port());
    try (connection) {
      connection.send(sent);
      pause(random.nextInt(SLOW_MILLIS));
      if (random.nextBoolean()) {
        connection.reset();
      }
    }
  }

  private void leaveInHead() throws IOException {
    String text = get(any()).text("1.1");
    leave(text.substring(0, random.nextInt(text.length())));
  }

  private void leaveInRequestContent() throws IOException {
    try (var connection = ClientConnection.open(scene.port())) {
      int length = 1 + random.nextInt(UPLOAD_BYTES);
      sendContent(connection, any(), length, random.nextInt(length), random.nextBoolean(), 0);
      if (random.nextBoolean()) {
        connection.reset();
      }
    }
  }

  private void leaveInContent() throws IOException {
    leaveInContent(get(random.nextBoolean() ? Subject.any(Family.LARGE, random) : any()));
  }

  private void leaveInContent(Wanted wanted) throws IOException {
    try (var connection = ClientConnection.open(scene.port())) {
      connection.send(wanted.text("1.1"));
      Head head = connection.in().head();
      if (head == null) {
        scene.tally().fail("no answer to " + wanted.subject().target());
        return;
      }
      var verdict = new Verdict(wanted, head, scene.versions());
      int[] left = {random.nextInt(wanted.subject().length() + 1)};
      try {
        connection
            .in()
            .content(
                head,
                true,
                (octets, from, count) -> {
                  verdict.take(octets, from, count);
                  left[0] -= count;
                  if (left[0] <= 0) {
                    throw new IOException("enough");
                  }
                });
      } finally {
        blame(verdict);
        if (random.nextBoolean()) {
          connection.reset();
        }
      }
    }
  }

  private void sendBroken() throws IOException {
    Subject subject = Subject.any(Family.PASS, random);
    try (var connection = ClientConnection.open(scene.port())) {
      String text = BrokenRequest.any(random, subject);
      connection.send(text);
      Head head = connection.in().head();
      if (head == null || head.status() < 400) {
        scene.tally().fail("a broken request is not refused: " + text + " — " + head);
        return;
      }
      connection.in().content(head, true, (octets, from, count) -> {});
      if (connection.in().head() != null) {
        scene.tally().fail("two answers to a broken request: " + text);
      }
    }
  }

  private ClientConnection connection() throws IOException {
    ClientConnection connection = kept;
    if (connection == null) {
      connection = ClientConnection.open(scene.port());
      kept = connection;
    }
    return connection;
  }

  private void drop() {
    if (kept != null) {
      kept.close();
      kept = null;
    }
  }

  private static void pause(int millis) {
    if (millis > 0) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
    }
  }
}
