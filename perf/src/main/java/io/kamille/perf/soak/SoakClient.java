package io.kamille.perf.soak;

import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.Arrays;
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
  record Scene(int port, Versions versions, Tally tally, Semaphore crowds) {

    /** A request for that subject in any of its variants. */
    Wanted get(Subject subject, SplittableRandom random) {
      return Wanted.get(versions, subject, random.nextInt(subject.family().variants()));
    }
  }

  /** What a client does, and how often. */
  private enum Deed {
    GET(40),
    GET_CODED(8),
    GET_SHAKY(8),
    GET_LARGE(3),
    RANGE(6),
    HEAD(4),
    CONDITIONAL(8),
    POST(5),
    POST_SHAKY(2),
    PURGE(3),
    CROWD(1),
    READ_SLOWLY(2),
    LEAVE_IN_HEAD(3),
    LEAVE_IN_UPLOAD(2),
    LEAVE_BEFORE_ANSWER(3),
    LEAVE_IN_CONTENT(4);

    private static final int ALL = Arrays.stream(values()).mapToInt(deed -> deed.weight).sum();

    private final int weight;

    Deed(int weight) {
      this.weight = weight;
    }

    private static Deed any(SplittableRandom random) {
      int left = random.nextInt(ALL);
      int index = 0;
      while (left >= values()[index].weight) {
        left -= values()[index++].weight;
      }
      return values()[index];
    }
  }

  private static final int THINK_MILLIS = 40;
  private static final int SLOW_MILLIS = 80;
  private static final int SLOW_PIECES = 40;
  private static final int CROWD = 24;
  private static final double CLOSING = 0.15;
  private static final int UPLOAD_BYTES = 100_000;
  private static final int CHUNK_BYTES = 4_000;

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
      case GET -> ask(get());
      case GET_CODED -> ask(get(Family.TEXT).gzip());
      case GET_SHAKY -> ask(get(Family.SHAKY));
      case GET_LARGE -> ask(get(Family.LARGE));
      case RANGE -> range();
      case HEAD -> ask(get().head());
      case CONDITIONAL -> conditional();
      case POST -> post(Subject.any(random));
      case POST_SHAKY -> post(Subject.any(Family.SHAKY, random));
      case PURGE -> purge();
      case CROWD -> crowd();
      case READ_SLOWLY -> read(get(random.nextBoolean() ? Family.LARGE : Family.SHAKY), true);
      case LEAVE_IN_HEAD -> {
        String text = get().text();
        leave(text.substring(0, random.nextInt(text.length())));
      }
      case LEAVE_IN_UPLOAD -> leaveInUpload();
      case LEAVE_BEFORE_ANSWER -> leave(get().text());
      case LEAVE_IN_CONTENT -> read(random.nextBoolean() ? get(Family.LARGE) : get(), false);
    }
  }

  private Wanted get() {
    return scene.get(Subject.any(random), random);
  }

  private Wanted get(Family family) {
    return scene.get(Subject.any(family, random), random);
  }

  /** Sends it on the connection at hand; again on a new one if that turns out to be over. */
  private void ask(Wanted wanted) throws IOException {
    ClientConnection connection = kept == null ? new ClientConnection(scene.port(), false) : kept;
    kept = connection;
    boolean isUsed = connection.isUsed();
    Head head = null;
    try {
      connection.send(wanted.text());
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
    var verdict = new Verdict(wanted, head, scene.versions());
    Tally tally = scene.tally();
    boolean isSound = wanted.subject().family() != Family.SHAKY;
    try {
      if (!wanted.isHead() && head.status() != 304) {
        connection.in().content(head, true, verdict);
      }
      verdict.complete();
    } catch (EOFException e) {
      tally.count(isSound ? "unexpected-break" : "break");
      throw e;
    } finally {
      blame(verdict);
    }
    tally.count("answer." + verdict.kind());
    if (verdict.kind() == Verdict.Kind.TROUBLE && isSound) {
      tally.count("unexpected-trouble");
      tally.count("trouble." + head.status() + " " + head.field("proxy-status"));
    } else if (verdict.kind() == Verdict.Kind.CONTENT) {
      lastWanted = wanted;
      lastTag = head.field("etag");
    }
    if (head.isLast() || random.nextDouble() < CLOSING) {
      drop();
    }
  }

  private void blame(Verdict verdict) {
    String fault = verdict.fault();
    if (fault != null) {
      scene.tally().fail(fault);
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
    Wanted whole = scene.get(subject, random);
    String tag = Subject.entityTag(whole.variant(), scene.versions().current(subject));
    ask(whole.range(first, last, random.nextInt(4) == 0 ? tag : null));
  }

  private void conditional() throws IOException {
    if (lastWanted == null || lastTag == null) {
      ask(get());
    } else {
      ask(Wanted.get(scene.versions(), lastWanted.subject(), lastWanted.variant()).unless(lastTag));
    }
  }

  private void purge() throws IOException {
    Subject subject = Subject.any(random);
    long version = scene.versions().change(subject);
    try (var connection = new ClientConnection(scene.port(), false)) {
      connection.send(Wanted.beginning("PURGE", subject) + "\r\n");
      Head head = connection.in().head();
      if (head != null && head.status() == 200) {
        scene.versions().forbidBefore(subject, version);
        scene.tally().count("purged");
      } else {
        scene.tally().fail("PURGE " + subject.target() + ": " + head);
      }
    }
  }

  // Uploads

  private void post(Subject subject) throws IOException {
    int length = random.nextInt(UPLOAD_BYTES);
    try (var connection = new ClientConnection(scene.port(), false)) {
      upload(connection, subject, length, length);
      acknowledged(subject, connection.in().head());
    }
  }

  private void leaveInUpload() throws IOException {
    int length = 1 + random.nextInt(UPLOAD_BYTES);
    try (var connection = new ClientConnection(scene.port(), false)) {
      upload(connection, Subject.any(random), length, random.nextInt(length));
      resetSometimes(connection);
    }
  }

  /** Sends the head of a POST and the first octets of its content. */
  private void upload(ClientConnection connection, Subject subject, int length, int sent)
      throws IOException {
    boolean isChunked = random.nextBoolean();
    String framing =
        isChunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: " + length + "\r\n";
    String head = Wanted.beginning("POST", subject) + framing;
    connection.send(head + "X-Length: " + length + "\r\n\r\n");
    for (int position = 0; position < sent; ) {
      int count = Math.min(sent - position, 1 + random.nextInt(CHUNK_BYTES));
      connection.send(isChunked ? Integer.toHexString(count) + "\r\n" : "");
      subject.content(0, 0).write(connection.out(), position, count);
      connection.send(isChunked ? "\r\n" : "");
      position += count;
    }
    connection.send(isChunked && sent == length ? "0\r\n\r\n" : "");
  }

  /** When the answer is there, no request may get what was before. */
  private void acknowledged(Subject subject, @Nullable Head head) {
    if (head == null || head.status() != 204) {
      scene.tally().count("post." + (head == null ? "unanswered" : head.status()));
      return;
    }
    String version = head.field("x-version");
    if (version == null) {
      scene.tally().fail("POST " + subject.target() + " without a version: " + head);
    } else {
      scene.versions().forbidBefore(subject, Long.parseLong(version));
      scene.tally().count("invalidated");
    }
  }

  // Rudeness

  private void leave(String sent) throws IOException {
    try (var connection = new ClientConnection(scene.port(), false)) {
      connection.send(sent);
      pause(random.nextInt(SLOW_MILLIS));
      resetSometimes(connection);
    }
  }

  private void resetSometimes(ClientConnection connection) throws IOException {
    if (random.nextBoolean()) {
      connection.reset();
    }
  }

  /** Reads a part and leaves: in small pieces with pauses, or at any point. */
  private void read(Wanted wanted, boolean isSlow) throws IOException {
    try (var connection = new ClientConnection(scene.port(), isSlow)) {
      connection.send(wanted.text());
      Head head = connection.in().head();
      if (head == null) {
        scene.tally().fail("no answer to " + wanted.subject().target());
        return;
      }
      var verdict = new Verdict(wanted, head, scene.versions());
      int[] left = {isSlow ? SLOW_PIECES : random.nextInt(wanted.subject().length() + 1)};
      MessageReader.Sink part =
          (octets, from, count) -> {
            verdict.take(octets, from, count);
            left[0] -= isSlow ? 1 : count;
            if (left[0] <= 0) {
              throw new IOException("enough");
            }
            pause(isSlow ? SLOW_MILLIS : 0);
          };
      try {
        connection.in().content(head, true, part);
      } finally {
        blame(verdict);
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
      Family[] families = {Family.LARGE, Family.SHAKY, Family.PAGE, Family.VARY};
      Subject subject = Subject.any(families[random.nextInt(families.length)], random);
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
    try {
      Wanted wanted = scene.get(subject, random);
      if (random.nextInt(4) == 0) {
        read(wanted, false);
      } else {
        ask(wanted);
      }
    } catch (SocketTimeoutException e) {
      scene.tally().fail("crowd: no answer, and no end of the connection");
    } catch (IOException e) {
      scene.tally().count("broken.crowd-member");
    } finally {
      drop();
    }
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
