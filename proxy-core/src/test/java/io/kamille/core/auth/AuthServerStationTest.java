package io.kamille.core.auth;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.setting.Sections;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AuthServerStationTest {

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final List<Reply> questions = new ArrayList<>();
  private final List<Exchange> passed = new ArrayList<>();
  private final Reins reins = new Reins();
  private RecordingReply client = new RecordingReply();
  private final List<Exchange> asked = new ArrayList<>();

  @AfterEach
  void close() {
    channel.close();
  }

  @Test
  void anAnswerThatDoesNotComeInTimeIsNoVerdict() {
    Reply question = ask();
    question.head(ResponseHead.of(200), Reply.UNKNOWN_LENGTH);
    for (int second = 1; second < AuthServerStation.DEADLINE_SECONDS; second++) {
      pass(1);
      question.write(Unpooled.buffer().writeZero(1));
    }
    assertThat(client.hasFailed()).isFalse();
    pass(1);
    assertThat(client.failure().status()).isEqualTo(503);
    assertThat(client.failure().kind()).isEqualTo(ErrorType.HTTP_RESPONSE_TIMEOUT);
    assertThat(reins.why).isNotNull();
    question.end(null);
    assertThat(passed).isEmpty();
  }

  @Test
  void aClientThatLeavesTakesItsQuestionAlong() {
    Reply question = ask();
    client.source().cancel(Failure.of(ErrorType.CLIENT_GONE, "gone"));
    assertThat(reins.why).isNotNull();
    question.head(ResponseHead.of(200), 0);
    question.end(null);
    pass(AuthServerStation.DEADLINE_SECONDS);
    assertThat(passed).isEmpty();
    assertThat(client.hasFailed()).isFalse();
  }

  @Test
  void theRequestOfAClientThatHasClosedItsSideGoesNoFurther() {
    Reply question = ask();
    question.head(ResponseHead.of(200), 0);
    asked.getFirst().notes().inputEnded();
    question.end(null);
    assertThat(passed).isEmpty();
    assertThat(client.failure().kind()).isEqualTo(ErrorType.CLIENT_GONE);
  }

  @Test
  void anEndWithoutAHeadIsNoVerdict() {
    Reply question = ask();
    question.end(null);
    assertThat(passed).isEmpty();
    pass(AuthServerStation.DEADLINE_SECONDS);
    assertThat(client.failure().status()).isEqualTo(503);
  }

  @Test
  void aWholeAnswerInTimePassesOnce() {
    Reply question = ask();
    question.head(ResponseHead.of(204), 0);
    question.end(null);
    pass(AuthServerStation.DEADLINE_SECONDS);
    assertThat(passed).hasSize(1);
    assertThat(passed.getFirst().request().isAuthenticated()).isTrue();
    assertThat(client.hasFailed()).isFalse();
    assertThat(reins.why).isNull();
  }

  @Test
  void aPathThatClimbsOnceItIsInNormalFormIsRefused() {
    for (String path : List.of("/a%2F..%2Fb", "/a%%32F..%%32Fb", "/a%2%46..")) {
      asked("http://a" + path);
      assertThat(client.failure().status()).as(path).isEqualTo(400);
      client = new RecordingReply();
    }
    assertThat(questions).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 1, AuthServerStation.LIMIT_BYTES})
  void anAnswerIsTakenUpToTheLimit(int beyond) {
    Reply question = ask();
    question.head(ResponseHead.of(401), Reply.UNKNOWN_LENGTH);
    question.write(Unpooled.buffer().writeZero(AuthServerStation.LIMIT_BYTES - 1));
    question.write(Unpooled.buffer().writeZero(beyond + 1));
    if (beyond > 0) {
      assertThat(client.failure().status()).isEqualTo(503);
      assertThat(client.failure().reason()).contains("longer than 256 KiB");
      assertThat(reins.why).as("the answer of the auth server is left").isNotNull();
    }
    question.end(null);
    assertThat(passed).isEmpty();
    if (beyond <= 0) {
      assertThat(client.head().status()).isEqualTo(401);
      assertThat(client.received()).isEqualTo(AuthServerStation.LIMIT_BYTES + beyond);
    }
  }

  private Reply ask() {
    asked("http://a/b");
    return questions.getFirst();
  }

  private void asked(String uri) {
    var settings =
        Sections.of(ForwardAuthSettings.SECTION, "{upstream: auth, request-fields: [Cookie]}");
    var station =
        new AuthServerStation(
            settings,
            question -> {
              question.reply().open(reins);
              questions.add(question.reply());
            },
            new Verdicts(),
            ManualClock.atSeconds(0),
            passed::add);
    var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    Exchange exchange =
        new Exchange(
            channel.eventLoop(),
            address,
            address,
            RequestHead.of("GET", uri),
            RequestContent.NONE,
            client);
    asked.add(exchange);
    station.handle(exchange);
  }

  private void pass(int seconds) {
    channel.advanceTimeBy(seconds, TimeUnit.SECONDS);
    channel.runScheduledPendingTasks();
  }

  /** The reins of the auth server's answer. */
  private static final class Reins implements ContentSource {

    private @Nullable Failure why;

    @Override
    public void pause() {}

    @Override
    public void resume() {}

    @Override
    public void cancel(Failure why) {
      this.why = why;
    }
  }
}
