package io.kamille.core.tls;

import static org.assertj.core.api.Assertions.assertThat;

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
}
