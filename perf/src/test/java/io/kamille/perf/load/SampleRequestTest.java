package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.h1.HeadLimits;
import io.kamille.core.h1.RequestParser;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SampleRequestTest {

  @Test
  void aBrowserSendsFiveTimesWhatAToolSends() {
    assertThat(SampleRequest.CURL.head().fields().size()).isEqualTo(3);
    assertThat(SampleRequest.BROWSER.head().fields().size()).isEqualTo(15);
  }

  @ParameterizedTest
  @EnumSource
  void onTheWireItIsTheSameRequest(SampleRequest request) {
    var parser = new RequestParser(HeadLimits.REQUEST);
    assertThat(parser.parse(Unpooled.wrappedBuffer(request.octets())))
        .isEqualTo(RequestParser.Outcome.COMPLETE);
    assertThat(parser.head()).hasToString(request.head().toString());
  }
}
