package io.kamille.perf.soak;

import io.kamille.perf.load.MadeContent;
import io.kamille.perf.soak.SoakClient.Scene;
import java.io.IOException;
import java.util.SplittableRandom;

/**
 * What a client sends content with: quickly, slowly, and not to the end. Confined to its thread.
 */
final class Uploads {

  private static final int UPLOAD_BYTES = 100_000;
  private static final int SLOW_UPLOAD_BYTES = 2_000;
  private static final int CHUNK_BYTES = 4_000;
  private static final int SLOW_MILLIS = 80;

  private final Scene scene;
  private final SplittableRandom random;

  Uploads(Scene scene, SplittableRandom random) {
    this.scene = scene;
    this.random = random;
  }

  void post(Subject subject, boolean isChunked) throws IOException {
    int length = random.nextInt(UPLOAD_BYTES);
    try (var connection = ClientConnection.open(scene.port())) {
      sendContent(connection, subject, length, length, isChunked, 0);
      acknowledged(connection, subject);
    }
  }

  void postSlowly() throws IOException {
    Subject subject = Subject.any(random);
    int length = SLOW_UPLOAD_BYTES;
    try (var connection = ClientConnection.open(scene.port())) {
      sendContent(connection, subject, length, length, random.nextBoolean(), SLOW_MILLIS);
      acknowledged(connection, subject);
    }
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
    MadeContent content = subject.content(0, 0);
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
      SoakClient.pause(pauseMillis);
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

  /** Leaves within the content of a request. */
  void leaveInside() throws IOException {
    try (var connection = ClientConnection.open(scene.port())) {
      int length = 1 + random.nextInt(UPLOAD_BYTES);
      sendContent(
          connection, Subject.any(random), length, random.nextInt(length), random.nextBoolean(), 0);
      if (random.nextBoolean()) {
        connection.reset();
      }
    }
  }
}
