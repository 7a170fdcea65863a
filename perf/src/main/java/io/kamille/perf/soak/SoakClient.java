package io.kamille.perf.soak;

import static io.kamille.perf.soak.SoakConnection.field;

import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
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
   * What all clients have in common.
   *
   * @param crowds how many crowds there may be at once
   */
  record Scene(int port, Versions versions, Tally tally, Semaphore crowds) {}

  /** Something done with connections. */
  private interface Action {
    void run() throws IOException;
  }

  /** What a client does, and how often beside others. */
  private record Deed(int weight, String name, Action action) {}

  private static final int THINK_MILLIS = 40;
  private static final int SLOW_MILLIS = 80;
  private static final int SLOW_PIECES = 40;
  private static final int CROWD = 24;
  private static final List<Family> CROWDED =
      List.of(Family.LARGE, Family.SHAKY, Family.PAGE, Family.VARY);
  private static final double CLOSING = 0.15;
  private static final int UPLOAD_BYTES = 100_000;
  private static final int CHUNK_BYTES = 4_000;

  private final Scene scene;
  private final Versions versions;
  private final Tally tally;
  private final SplittableRandom random;
  private final List<Deed> deeds;
  private @Nullable SoakConnection kept;
  private @Nullable Wanted lastWanted;
  private String lastTag = "";

  SoakClient(Scene scene, SplittableRandom random) {
    this.scene = scene;
    this.versions = scene.versions();
    this.tally = scene.tally();
    this.random = random;
    deeds =
        List.of(
            new Deed(40, "GET", () -> ask(get())),
            new Deed(8, "GET_CODED", () -> ask(get(Family.TEXT).gzip())),
            new Deed(8, "GET_SHAKY", () -> ask(get(Family.SHAKY))),
            new Deed(3, "GET_LARGE", () -> ask(get(Family.LARGE))),
            new Deed(6, "RANGE", this::range),
            new Deed(4, "HEAD", () -> ask(get().head())),
            new Deed(8, "CONDITIONAL", this::conditional),
            new Deed(5, "POST", () -> post(Subject.any(random))),
            new Deed(2, "POST_SHAKY", () -> post(Subject.any(Family.SHAKY, random))),
            new Deed(3, "PURGE", this::purge),
            new Deed(1, "CROWD", this::crowd),
            new Deed(
                2,
                "READ_SLOWLY",
                () -> read(get(random.nextBoolean() ? Family.LARGE : Family.SHAKY), true)),
            new Deed(3, "LEAVE_IN_HEAD", this::leaveInHead),
            new Deed(2, "LEAVE_IN_UPLOAD", this::leaveInUpload),
            new Deed(3, "LEAVE_BEFORE_ANSWER", () -> leave(get().text())),
            new Deed(
                4,
                "LEAVE_IN_CONTENT",
                () -> read(random.nextBoolean() ? get(Family.LARGE) : get(), false)));
  }

  /** Does one thing after the other until the time is over, by {@link System#nanoTime}. */
  void run(long endNanos) {
    while (System.nanoTime() - endNanos < 0) {
      Deed deed = any();
      tally.count("deed." + deed.name());
      attempt(deed.name(), deed.action());
      pause(random.nextInt(THINK_MILLIS));
    }
    drop();
  }

  private void attempt(String what, Action action) {
    try {
      action.run();
      return;
    } catch (SocketTimeoutException e) {
      tally.fail(what + ": no answer, and no end of the connection");
    } catch (ProtocolException | RuntimeException e) {
      tally.fail(what + ": an answer that cannot be read: " + e);
    } catch (IOException e) {
      tally.count("broken." + what);
    }
    drop();
  }

  private Deed any() {
    int left = random.nextInt(deeds.stream().mapToInt(Deed::weight).sum());
    int index = 0;
    while (left >= deeds.get(index).weight()) {
      left -= deeds.get(index++).weight();
    }
    return deeds.get(index);
  }

  private Wanted get() {
    return get(Subject.any(random));
  }

  private Wanted get(Family family) {
    return get(Subject.any(family, random));
  }

  /** A request for that subject in any of its variants. */
  private Wanted get(Subject subject) {
    return Wanted.get(versions, subject, random.nextInt(subject.family().variants()));
  }

  private SoakConnection connect() throws IOException {
    return SoakConnection.open(scene.port(), false);
  }

  /** Sends it on the connection at hand; again on a new one if that turns out to be over. */
  private void ask(Wanted wanted) throws IOException {
    SoakConnection connection = kept == null ? connect() : kept;
    kept = connection;
    boolean isUsed = connection.isUsed();
    ResponseHead head;
    try {
      connection.send(wanted.text());
      head = connection.response(wanted.isHead() ? Method.HEAD : Method.GET);
    } catch (SocketTimeoutException | ProtocolException e) {
      throw e;
    } catch (IOException e) {
      head = null;
    }
    if (head != null) {
      receive(connection, wanted, head);
    } else if (isUsed) {
      drop();
      tally.count("again");
      ask(wanted);
    } else {
      tally.fail("no answer to " + wanted.method() + " " + wanted.subject().target());
      drop();
    }
  }

  private void receive(SoakConnection connection, Wanted wanted, ResponseHead head)
      throws IOException {
    boolean isSound = wanted.subject().family() != Family.SHAKY;
    Verdict.Answer kind;
    try {
      kind = take(connection, wanted, head, Integer.MAX_VALUE, false);
    } catch (EOFException e) {
      tally.count(isSound ? "unexpected-break" : "break");
      throw e;
    }
    tally.count("answer." + kind);
    Fields fields = head.fields();
    if (kind == Verdict.Answer.TROUBLE && isSound) {
      tally.count("unexpected-trouble");
      tally.count("trouble." + head.status() + " " + field(fields, "proxy-status"));
    } else if (kind == Verdict.Answer.CONTENT) {
      lastWanted = wanted;
      lastTag = field(fields, "etag");
    }
    boolean isLast =
        head.minorVersion() == 0 || field(fields, "connection").equalsIgnoreCase("close");
    if (isLast || random.nextDouble() < CLOSING) {
      drop();
    }
  }

  /** Compares so much of an answer, counted in octets, or in small pieces with pauses. */
  private Verdict.Answer take(
      SoakConnection connection, Wanted wanted, ResponseHead head, int amount, boolean isSlow)
      throws IOException {
    var verdict = new Verdict(wanted, head, versions);
    try {
      ByteBuf piece = connection.piece();
      for (int left = amount; piece != null && left > 0; piece = connection.piece()) {
        verdict.take(piece);
        left -= isSlow ? 1 : piece.readableBytes();
        pause(isSlow ? SLOW_MILLIS : 0);
      }
      if (piece == null) {
        verdict.complete();
      }
      return verdict.kind();
    } finally {
      String fault = verdict.fault();
      if (fault != null) {
        tally.fail(fault);
      }
    }
  }

  private void range() throws IOException {
    Subject subject =
        random.nextInt(4) == 0 ? Subject.any(Family.LARGE, random) : Subject.any(random);
    int length = subject.length();
    if (length == 0 || subject.isNegative()) {
      return;
    }
    int first = random.nextInt(length);
    int last = first + random.nextInt(2 * (length - first));
    Wanted whole = get(subject);
    String tag = Subject.entityTag(whole.variant(), versions.current(subject));
    ask(whole.range(first, last, random.nextInt(4) == 0 ? tag : null));
  }

  private void conditional() throws IOException {
    if (lastWanted == null) {
      ask(get());
    } else {
      ask(Wanted.get(versions, lastWanted.subject(), lastWanted.variant()).unless(lastTag));
    }
  }

  private void purge() throws IOException {
    Subject subject = Subject.any(random);
    long version = versions.change(subject);
    try (var connection = connect()) {
      connection.send(Wanted.beginning("PURGE", subject) + "\r\n");
      ResponseHead head = connection.response(Method.GET);
      if (head != null && head.status() == 200) {
        versions.forbidBefore(subject, version);
        tally.count("purged");
      } else {
        tally.fail("PURGE " + subject.target() + ": " + head);
      }
    }
  }

  // Uploads

  /** When the answer is there, no request may get what was before. */
  private void post(Subject subject) throws IOException {
    int length = random.nextInt(UPLOAD_BYTES);
    try (var connection = connect()) {
      upload(connection, subject, length, length);
      ResponseHead head = connection.response(Method.GET);
      if (head == null || head.status() != 204) {
        tally.count("post." + (head == null ? "unanswered" : head.status()));
        return;
      }
      String version = field(head.fields(), "x-version");
      if (version.isEmpty()) {
        tally.fail("POST " + subject.target() + " without a version: " + head);
      } else {
        versions.forbidBefore(subject, Long.parseLong(version));
        tally.count("invalidated");
      }
    }
  }

  private void leaveInUpload() throws IOException {
    int length = 1 + random.nextInt(UPLOAD_BYTES);
    try (var connection = connect()) {
      upload(connection, Subject.any(random), length, random.nextInt(length));
      resetSometimes(connection);
    }
  }

  /** Sends the head of a POST and the first octets of its content. */
  private void upload(SoakConnection connection, Subject subject, int length, int sent)
      throws IOException {
    boolean isChunked = random.nextBoolean();
    String framing =
        isChunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: " + length + "\r\n";
    String head = Wanted.beginning("POST", subject) + framing;
    connection.send(head + "X-Length: " + length + "\r\n\r\n");
    for (int position = 0; position < sent; ) {
      int count = Math.min(sent - position, 1 + random.nextInt(CHUNK_BYTES));
      connection.send(isChunked ? Integer.toHexString(count) + "\r\n" : "");
      subject.content(0, 0).write(connection.socket().getOutputStream(), position, count);
      connection.send(isChunked ? "\r\n" : "");
      position += count;
    }
    connection.send(isChunked && sent == length ? "0\r\n\r\n" : "");
  }

  // Rudeness

  private void leaveInHead() throws IOException {
    String text = get().text();
    leave(text.substring(0, random.nextInt(text.length())));
  }

  private void leave(String sent) throws IOException {
    try (var connection = connect()) {
      connection.send(sent);
      pause(random.nextInt(SLOW_MILLIS));
      resetSometimes(connection);
    }
  }

  private void resetSometimes(SoakConnection connection) throws IOException {
    if (random.nextBoolean()) {
      connection.reset();
    }
  }

  /** Reads a part and leaves: in small pieces with pauses, or at any point. */
  private void read(Wanted wanted, boolean isSlow) throws IOException {
    try (var connection = SoakConnection.open(scene.port(), isSlow)) {
      connection.send(wanted.text());
      ResponseHead head = connection.response(Method.GET);
      if (head == null) {
        tally.fail("no answer to " + wanted.subject().target());
        return;
      }
      try {
        int some = isSlow ? SLOW_PIECES : random.nextInt(wanted.subject().length() + 1);
        take(connection, wanted, head, some, isSlow);
      } finally {
        resetSometimes(connection);
      }
    }
  }

  /** Many ask for one thing at once, which has just been changed; some do not stay. */
  private void crowd() throws IOException {
    if (!scene.crowds().tryAcquire()) {
      return;
    }
    try {
      Subject subject = Subject.any(CROWDED.get(random.nextInt(CROWDED.size())), random);
      post(subject);
      var threads = new ArrayList<Thread>();
      for (int i = 0; i < CROWD; i++) {
        var member = new SoakClient(scene, random.split());
        threads.add(Thread.ofVirtual().start(() -> member.join(subject)));
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

  private void join(Subject subject) {
    Wanted wanted = get(subject);
    boolean isLeaving = random.nextInt(4) == 0;
    attempt(
        "crowd-member",
        () -> {
          if (isLeaving) {
            read(wanted, false);
          } else {
            ask(wanted);
          }
        });
    drop();
  }

  private void drop() {
    if (kept != null) {
      kept.close();
      kept = null;
    }
  }

  private static void pause(int millis) {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
  }
}
