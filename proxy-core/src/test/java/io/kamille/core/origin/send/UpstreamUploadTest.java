package io.kamille.core.origin.send;

import static io.kamille.core.origin.send.UpstreamFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.http.RequestHead;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.send.ScriptedOrigin.Conversation;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.setting.Sections;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Clients that send content slowly leave connections of an origin to others. */
class UpstreamUploadTest {

  private static final UpstreamSettings SETTINGS = UpstreamSettings.DEFAULTS;
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  private static final int LENGTH = 4;

  /** Reads what content there is, and answers. */
  private static final Script ANSWERS =
      with -> {
        while (true) {
          readContent(with, with.readHead());
          with.send(OK);
        }
      };

  private static void readContent(Conversation with, String head) throws IOException {
    if (head.startsWith("POST")) {
      with.read(LENGTH);
    }
  }

  @Test
  void slowUploadsLeaveAConnectionToRequestsWithoutContent() throws Exception {
    try (var origin = ScriptedOrigin.open(scripts(8));
        var fixture = new UpstreamFixture(connections(4), origin)) {
      List<Upload> slow = begin(fixture, 3);
      Upload fourth = new Upload(fixture);
      for (int i = 0; i < 5; i++) {
        assertThat(fixture.get("/").content()).isEqualTo("ok");
      }
      assertThat(fourth.content.started()).as("has no place").isNotDone();
      slow.getFirst().finish();
      assertThat(await(slow.getFirst().reply.ended()).content()).isEqualTo("ok");
      await(fourth.content.started());
      fourth.finish();
      assertThat(await(fourth.reply.ended()).content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(4);
    }
  }

  @Test
  void anUploadThatIsSentLetsTheNextBeginBeforeItIsAnswered() throws Exception {
    Script silent =
        with -> {
          readContent(with, with.readHead());
          with.readToEnd();
        };
    try (var origin = ScriptedOrigin.open(silent, silent, silent, silent);
        var fixture = new UpstreamFixture(connections(4), origin)) {
      List<Upload> slow = begin(fixture, 3);
      Upload fourth = new Upload(fixture);
      slow.getFirst().finish();
      await(fourth.content.started());
      assertThat(slow.getFirst().reply.ended()).isNotDone();
    }
  }

  @Test
  void anUploadThatBreaksOffLetsTheNextBegin() throws Exception {
    try (var origin = ScriptedOrigin.open(scripts(8));
        var fixture = new UpstreamFixture(connections(4), origin)) {
      List<Upload> slow = begin(fixture, 3);
      Upload fourth = new Upload(fixture);
      slow.get(1).content.abort(Failure.of(ErrorType.CLIENT_GONE, "it went"));
      await(fourth.content.started());
      assertThat(await(slow.get(1).reply.ended()).failure().kind())
          .isEqualTo(ErrorType.CLIENT_GONE);
    }
  }

  @Test
  void anUploadThatNobodyWaitsForLetsTheNextBegin() throws Exception {
    try (var origin = ScriptedOrigin.open(scripts(8));
        var fixture = new UpstreamFixture(connections(4), origin)) {
      List<Upload> slow = begin(fixture, 3);
      Upload fourth = new Upload(fixture);
      Failure gone = Failure.of(ErrorType.CLIENT_GONE, "it went");
      fixture.onLoop(
          () -> {
            slow.getFirst().reply.source().cancel(gone);
            return null;
          });
      await(fourth.content.started());
    }
  }

  @Test
  void anUploadThatTheOriginRefusesLetsTheNextBegin() throws Exception {
    Script refuses =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\n");
          with.readToEnd();
        };
    try (var origin = ScriptedOrigin.open(refuses, ANSWERS);
        var fixture = new UpstreamFixture(connections(2), origin)) {
      Upload first = new Upload(fixture);
      Upload second = new Upload(fixture);
      await(second.content.started());
      assertThat(first.reply.ended()).as("its response is still to come").isNotDone();
    }
  }

  @Test
  void anUploadWhoseConnectionTheOriginClosesLetsTheNextBegin() throws Exception {
    Script closes =
        with -> {
          with.readHead();
          with.close();
        };
    try (var origin = ScriptedOrigin.open(closes, ANSWERS);
        var fixture = new UpstreamFixture(connections(1), origin)) {
      Upload first = new Upload(fixture);
      Upload second = new Upload(fixture);
      await(first.reply.ended());
      await(second.content.started());
      second.finish();
      assertThat(await(second.reply.ended()).content()).isEqualTo("ok");
    }
  }

  @Test
  void whoWaitsToBeAskedForItsContentIsAnUploadToo() throws Exception {
    try (var origin = ScriptedOrigin.open(ANSWERS, ANSWERS);
        var fixture = new UpstreamFixture(connections(2), origin)) {
      new Upload(fixture, "Expect", "100-continue");
      Upload second = new Upload(fixture, "Expect", "100-continue");
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(second.content.started()).isNotDone();
      assertThat(origin.heads()).filteredOn(head -> head.startsWith("POST")).hasSizeLessThan(2);
    }
  }

  @Test
  void theOnlyConnectionTakesUploads() throws Exception {
    try (var origin = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(connections(1), origin)) {
      for (int i = 0; i < 3; i++) {
        Upload upload = new Upload(fixture);
        upload.finish();
        assertThat(await(upload.reply.ended()).content()).isEqualTo("ok");
        fixture.onLoop(() -> null);
      }
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(1);
    }
  }

  private static Script[] scripts(int count) {
    Script[] scripts = new Script[count];
    Arrays.fill(scripts, ANSWERS);
    return scripts;
  }

  /** Uploads that are under way. */
  private static List<Upload> begin(UpstreamFixture fixture, int count) throws Exception {
    List<Upload> uploads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Upload upload = new Upload(fixture);
      await(upload.content.started());
      uploads.add(upload);
    }
    return uploads;
  }

  private static UpstreamSettings connections(int count) {
    return Sections.copy(UpstreamFixture.unbuffered(SETTINGS))
        .with("retries", 0)
        .with("pool.maxConnections", count)
        .with("pool.maxWaiting", 8)
        .with("pool.idleTimeout", Duration.ofMinutes(1))
        .record();
  }

  private static final class Upload {

    private final ScriptedContent content;
    private final RecordingReply reply;

    Upload(UpstreamFixture fixture, String... fields) {
      content = new ScriptedContent(fixture.loop(), LENGTH);
      RequestHead head = RequestHead.of("POST", "http://example.org/", fields);
      reply = fixture.send(head, content);
    }

    void finish() {
      content.finish("data");
    }
  }
}
