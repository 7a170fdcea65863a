package io.kamille.core.origin.send;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.RequestHead;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What HTTP/1.1 refuses from an origin, HTTP/2 refuses, too. */
class H2HostileOriginTest {

  private static final int MAX_STREAMS = 3;
  private static final int PRIORITY_UPDATE = 0x10;

  /** What an origin says to the first request on stream 1. */
  enum Fault {
    TOO_SHORT(ErrorType.HTTP_RESPONSE_INCOMPLETE) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.head(1, false, ":status", "200", "content-length", "3").data(1, true, "ab");
      }
    },
    TOO_LONG(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.head(1, false, ":status", "200", "content-length", "1").data(1, true, "ab");
      }
    },
    NO_CONTENT_AT_ALL(ErrorType.HTTP_RESPONSE_INCOMPLETE) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.head(1, true, ":status", "200", "content-length", "1");
      }
    },
    CONTENT_WHERE_NONE_MAY_BE(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.head(1, false, ":status", "204").data(1, true, "ab");
      }
    },
    TWO_LENGTHS(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.head(1, false, ":status", "200", "content-length", "1", "content-length", "2");
      }
    },
    CONTENT_BEFORE_A_HEAD(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.data(1, true, "ab");
      }
    },
    NO_STATUS(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.head(1, true, "a", "b");
      }
    },
    A_STATUS_OF_TWO_DIGITS(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.head(1, true, ":status", "20");
      }
    },
    SWITCHED_PROTOCOLS(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.head(1, false, ":status", "101");
      }
    },
    A_PSEUDO_FIELD_OF_REQUESTS(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.head(1, true, ":status", "200", ":path", "/");
      }
    },
    A_NAME_IN_UPPER_CASE(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.head(1, true, ":status", "200", "Name", "a");
      }
    },
    A_LINE_BREAK_IN_A_VALUE(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.head(1, true, ":status", "200", "a", "b\r\nSet-Cookie: c");
      }
    },
    A_FIELD_OF_THE_CONNECTION(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.head(1, true, ":status", "200", "transfer-encoding", "chunked");
      }
    },
    AN_UNASKED_304(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.head(1, true, ":status", "304");
      }
    },
    SEVENTEEN_INTERIM_RESPONSES(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        for (int i = 0; i < 17; i++) {
          h2.head(1, false, ":status", "103");
        }
      }
    },
    TOO_MANY_FIELDS(ErrorType.HTTP_RESPONSE_HEADER_SECTION_SIZE) {
      @Override
      void run(H2Conversation h2) throws IOException {
        String[] fields = new String[2 + 2 * 201];
        fields[0] = ":status";
        fields[1] = "200";
        for (int i = 2; i < fields.length; i += 2) {
          fields[i] = "a";
          fields[i + 1] = "b";
        }
        h2.head(1, true, fields);
      }
    },
    TRAILERS_THAT_DO_NOT_END(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.head(1, false, ":status", "200").head(1, false, "a", "b");
      }
    },
    A_PUSH(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.send(
            H2Conversation.PUSH_PROMISE, H2Conversation.END_HEADERS, 1, new byte[] {0, 0, 0, 2});
      }
    },
    THE_WISH_FOR_PUSHES(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.send(H2Conversation.SETTINGS, 0, 0, new byte[] {0, 2, 0, 0, 0, 1});
      }
    },
    A_PRIORITY_UPDATE(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.send(PRIORITY_UPDATE, 0, 0, new byte[] {0, 0, 0, 1, 'i'});
      }
    },
    A_RESPONSE_NOBODY_ASKED_FOR(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.head(99, true, ":status", "200");
      }
    },
    MORE_THAN_THE_WINDOW(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.head(1, false, ":status", "200");
        String content = "x".repeat(16 * 1024);
        for (int i = 0; i < 9; i++) {
          h2.data(1, false, content);
        }
      }
    },
    A_FLOOD_OF_PINGS(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        for (int i = 0; i < 2_000; i++) {
          h2.send(H2Conversation.PING, 0, 0, new byte[8]);
        }
      }
    },
    A_FLOOD_OF_SETTINGS(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        for (int i = 0; i < 2_000; i++) {
          h2.send(H2Conversation.SETTINGS, 0, 0, new byte[] {0, MAX_STREAMS, 0, 0, 0, 100});
        }
      }
    },
    A_FRAME_THAT_IS_TOO_LONG(ErrorType.HTTP_PROTOCOL_ERROR) {
      @Override
      void run(H2Conversation h2) throws IOException {
        h2.send(H2Conversation.DATA, 0, 1, new byte[16_385]);
      }
    };

    private final ErrorType kind;

    Fault(ErrorType kind) {
      this.kind = kind;
    }

    abstract void run(H2Conversation h2) throws IOException;
  }

  @ParameterizedTest
  @EnumSource
  void isRefused(Fault fault) throws Exception {
    boolean isPaused = fault == Fault.MORE_THAN_THE_WINDOW;
    ScriptedOrigin.Script script =
        with -> {
          H2Conversation h2 = new H2Conversation(with);
          h2.request();
          fault.run(h2);
          with.readToEnd();
        };
    try (var origin = ScriptedOrigin.open(script);
        var fixture = new UpstreamFixture(H2OriginTest.SETTINGS, origin)) {
      var reply = new RecordingReply().onlyCounting();
      fixture.send(
          RequestHead.of("GET", "http://example.org/"),
          RequestContent.NONE,
          isPaused ? reply.pausedAtOnce() : reply);
      Failure failure = UpstreamFixture.await(reply.ended()).failure();
      assertThat(failure.kind()).isEqualTo(fault.kind);
    }
  }
}
