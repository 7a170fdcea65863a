package io.kamille.core.tls;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure.ErrorType;
import io.netty.handler.codec.DecoderException;
import java.io.IOException;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;

class UnwrappedTroubleTest {

  @Test
  void whatTlsThrewIsOfTheSocketAndAnotherFaultStaysOne() {
    SSLException alert = new SSLException("Received fatal alert: internal_error");
    assertThat(HandshakeTrouble.unwrapped(new DecoderException(alert)))
        .isSameAs(alert)
        .isInstanceOf(IOException.class);
    DecoderException ours = new DecoderException(new IllegalStateException("a fault"));
    assertThat(HandshakeTrouble.unwrapped(ours)).isSameAs(ours);
  }

  @Test
  void aReasonIsLookedForInSixteenCausesAndTold200Characters() {
    SSLException alert = new SSLException("Received fatal alert: internal_error");
    assertThat(HandshakeTrouble.of(wrapped(alert, 15), "a")).isNotNull();
    assertThat(HandshakeTrouble.of(wrapped(alert, 16), "a")).isNull();
    Exception first = new IOException("first");
    first.initCause(new IOException("second", first));
    assertThat(HandshakeTrouble.of(first, "a")).as("a circle").isNull();
    for (int length : new int[] {199, 200, 201, 1 << 20}) {
      String reason = "r".repeat(length);
      assertThat(new HandshakeTrouble(ErrorType.TLS_PROTOCOL_ERROR, reason).reason())
          .isEqualTo(length <= 200 ? reason : "r".repeat(199) + "…");
    }
  }

  private static Throwable wrapped(Throwable cause, int times) {
    return times == 0 ? cause : wrapped(new IOException(cause), times - 1);
  }
}
