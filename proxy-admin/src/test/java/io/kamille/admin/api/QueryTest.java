package io.kamille.admin.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.admin.auth.Peer;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The parameters of a request to the API. */
class QueryTest {

  private static Query of(@Nullable String query) throws InvalidRequest {
    return Query.of(
        new AdminRequest(
            "PUT",
            "/v1/config",
            query,
            List.of("kamille.example"),
            EmptyHttpHeaders.INSTANCE,
            new byte[0],
            new Peer.LocalSocket(),
            Map.of(),
            null),
        Set.of("comment"));
  }

  @Test
  void withoutQueryAndWithAnEmptyOneThereIsNoParameter() throws Exception {
    assertThat(of(null).all("comment")).isEmpty();
    assertThat(of("").all("comment")).isEmpty();
  }

  @Test
  void parametersAreDecodedAndUnknownOnesRefused() throws Exception {
    assertThat(of("comment=a+b%26c").one("comment")).isEqualTo("a b&c");
    assertThatThrownBy(() -> of("comment=a&b")).isInstanceOf(InvalidRequest.class);
  }
}
