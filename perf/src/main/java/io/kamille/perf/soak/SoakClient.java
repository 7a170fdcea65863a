package io.kamille.perf.soak;

import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
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
  record Scene(int port, Versions versions, Tally tally, Semaphore crowds) {

    /** A request for that subject in any of its variants. */
    Wanted get(Subject subject, SplittableRandom random) {
      return Wanted.get(versions, subject, random.nextInt(subject.family().variants()));
    }
  }

  private static final int THINK_MILLIS = 40;
  private static final int PIPELINED = 6;
  private static final int CROWD = 24;
  private static final double CLOSING = 0.15;

  private final Scene scene;
  private final SplittableRandom random;
  private final Uploads uploads;
  private final RudeClient rude;
  private @Nullable ClientConnection kept;
  private @Nullable Wanted lastWanted;
  private @Nullable String lastTag;

  SoakClient(Scene scene, SplittableRandom random) {
    this.scene = scene;
    this.random = random;
    this.uploads = new Uploads(scene, random);
    this.rude = new RudeClient(scene, random);
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
      case GET -> ask(scene.get(Subject.any(random), random));
      case GET_CODED -> ask(scene.get(Subject.any(Family.TEXT, random), random).gzip());
      case GET_SHAKY -> ask(scene.get(Subject.any(Family.SHAKY, random), random));
      case GET_LARGE -> ask(scene.get(Subject.any(Family.LARGE, random), random));
      case RANGE -> range();
      case HEAD -> ask(scene.get(Subject.any(random), random).head());
      case CONDITIONAL -> conditional();
      case OLD_VERSION -> oldVersion();
      case PIPELINE -> pipeline();
      case POST -> uploads.post(Subject.any(random), random.nextBoolean());
      case POST_SHAKY -> uploads.post(Subject.any(Family.SHAKY, random), true);
      case POST_SLOW -> uploads.postSlowly();
      case PURGE -> purge();
      case CROWD -> crowd();
      case READ_SLOWLY -> rude.readSlowly();
      case LEAVE_BEFORE_HEAD -> rude.leave("");
      case LEAVE_IN_HEAD -> rude.leaveInHead();
      case LEAVE_IN_REQUEST_CONTENT -> uploads.leaveInside();
      case LEAVE_BEFORE_ANSWER -> rude.leave(scene.get(Subject.any(random), random).text("1.1"));
      case LEAVE_IN_CONTENT -> rude.leaveInContent();
      case BROKEN -> rude.sendBroken();
    }
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
    Wanted before = lastWanted;
    String tag = lastTag;
    if (before == null || tag == null) {
      ask(scene.get(Subject.any(random), random));
    } else {
      ask(Wanted.get(scene.versions(), before.subject(), before.variant()).unless(tag));
    }
  }

  private void oldVersion() throws IOException {
    Subject subject = Subject.any(Family.PAGE, random);
    try (var connection = ClientConnection.open(scene.port())) {
      Wanted wanted = scene.get(subject, random);
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
      Wanted wanted = scene.get(Subject.any(random), random);
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

  private void purge() throws IOException {
    Subject subject = Subject.any(random);
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
              : random.nextInt(3) == 0 ? Subject.any(Family.SHAKY, random) : Subject.any(random);
      uploads.post(subject, false);
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
      Wanted wanted = scene.get(subject, own);
      if (own.nextInt(4) == 0) {
        new RudeClient(scene, own).leaveInContent(wanted);
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

  static void pause(int millis) {
    if (millis > 0) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
    }
  }
}
