package io.kamille.core.h1;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import org.junit.jupiter.api.Test;

/** RFC 9112 §6.3, on heads that have no fault. */
class MessageFramingTest {

  @Test
  void aRequestWithoutFramingFieldsHasNoContent() {
    assertThat(MessageFraming.of(RequestHead.of("POST", "http://a/"))).isZero();
  }

  @Test
  void aRequestSaysItsLengthOrIsChunked() {
    assertThat(MessageFraming.of(RequestHead.of("GET", "http://a/", "Content-Length", "007")))
        .isEqualTo(7);
    assertThat(
            MessageFraming.of(
                RequestHead.of("POST", "http://a/", "Content-Length", "999999999999999999")))
        .isEqualTo(999_999_999_999_999_999L);
    assertThat(
            MessageFraming.of(RequestHead.of("GET", "http://a/", "transfer-encoding", "CHUNKED")))
        .isEqualTo(MessageFraming.CHUNKED);
  }

  @Test
  void aResponseWithoutFramingFieldsGoesOnUntilClose() {
    assertThat(MessageFraming.of(ResponseHead.of(200), Method.GET))
        .isEqualTo(MessageFraming.UNTIL_CLOSE);
    assertThat(MessageFraming.of(ResponseHead.of(200, "Content-Length", "0"), Method.GET)).isZero();
    assertThat(MessageFraming.of(ResponseHead.of(500, "Transfer-Encoding", "chunked"), Method.POST))
        .isEqualTo(MessageFraming.CHUNKED);
  }

  @Test
  void someResponsesHaveNoContentWhateverTheySay() {
    for (int status : new int[] {100, 101, 103, 204, 304}) {
      assertThat(MessageFraming.of(ResponseHead.of(status, "Content-Length", "5"), Method.GET))
          .isZero();
    }
    assertThat(MessageFraming.of(ResponseHead.of(200, "Transfer-Encoding", "chunked"), Method.HEAD))
        .isZero();
    assertThat(MessageFraming.of(ResponseHead.of(200), Method.HEAD)).isZero();
  }

  @Test
  void theLengthIsDeclaredEvenWhereNoContentFollows() {
    assertThat(MessageFraming.declared(ResponseHead.of(304, "Content-Length", "5"))).isEqualTo(5);
    assertThat(MessageFraming.declared(ResponseHead.of(200))).isEqualTo(MessageFraming.UNTIL_CLOSE);
  }
}
