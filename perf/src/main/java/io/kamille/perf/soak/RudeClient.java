package io.kamille.perf.soak;

import io.kamille.perf.soak.SoakClient.Scene;
import java.io.IOException;
import java.util.SplittableRandom;

/**
 * A client that reads slowly, leaves before the end, or sends what no server may take. Confined to
 * its thread.
 */
final class RudeClient {

  private static final int SLOW_PIECES = 40;
  private static final int SLOW_MILLIS = 80;

  private final Scene scene;
  private final SplittableRandom random;

  RudeClient(Scene scene, SplittableRandom random) {
    this.scene = scene;
    this.random = random;
  }

  void readSlowly() throws IOException {
    Subject subject = Subject.any(random.nextBoolean() ? Family.LARGE : Family.SHAKY, random);
    try (var connection = ClientConnection.openSlow(scene.port())) {
      Wanted wanted = scene.get(subject, random);
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
      SoakClient.pause(SLOW_MILLIS);
    };
  }

  private void blame(Verdict verdict) {
    String fault = verdict.fault();
    if (fault != null) {
      scene.tally().fail(fault);
    }
  }

  void leave(String sent) throws IOException {
    ClientConnection connection = ClientConnection.open(scene.port());
    try (connection) {
      connection.send(sent);
      SoakClient.pause(random.nextInt(SLOW_MILLIS));
      if (random.nextBoolean()) {
        connection.reset();
      }
    }
  }

  void leaveInHead() throws IOException {
    String text = scene.get(Subject.any(random), random).text("1.1");
    leave(text.substring(0, random.nextInt(text.length())));
  }

  void leaveInContent() throws IOException {
    leaveInContent(
        scene.get(
            random.nextBoolean() ? Subject.any(Family.LARGE, random) : Subject.any(random),
            random));
  }

  void leaveInContent(Wanted wanted) throws IOException {
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

  void sendBroken() throws IOException {
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
}
