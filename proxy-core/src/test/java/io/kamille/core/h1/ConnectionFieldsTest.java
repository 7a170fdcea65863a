package io.kamille.core.h1;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.Fields;
import org.junit.jupiter.api.Test;

/** RFC 9110 §7.6.1. */
class ConnectionFieldsTest {

  @Test
  void fieldsForOneConnectionGoNoFurther() {
    Fields fields =
        Fields.of(
            "Connection", "x",
            "Keep-Alive", "5",
            "Proxy-Connection", "keep-alive",
            "TE", "trailers",
            "Trailer", "A",
            "Transfer-Encoding", "chunked",
            "Upgrade", "h2c",
            "HTTP2-Settings", "AAMAAABk",
            "A", "b");
    ConnectionFields.remove(fields);
    assertThat(fields).hasToString("A: b\n");
  }

  @Test
  void fieldsThatConnectionNamesGoNoFurther() {
    Fields fields =
        Fields.of(
            "X",
            "1",
            "connection",
            "close, X ,,\tY",
            "x",
            "2",
            "Cookie",
            "c",
            "Y",
            "3",
            "Z",
            "4",
            "Connection",
            "COOKIE");
    ConnectionFields.remove(fields);
    assertThat(fields).hasToString("Z: 4\n");
  }

  @Test
  void fieldsThatFrameOrSecureAMessageAreNoConnectionOptions() {
    Fields fields =
        Fields.of(
            "Connection", "Host, Content-Length, Cache-Control, Authorization, close",
            "Host", "a",
            "Content-Length", "1",
            "Cache-Control", "private",
            "Authorization", "x");
    ConnectionFields.remove(fields);
    assertThat(fields.size()).isEqualTo(4);
  }

  @Test
  void optionsThatAreNoTokensNameNothing() {
    Fields fields = Fields.of("Connection", "\"a\", b c, \u00e4", "a", "1", "b", "2");
    ConnectionFields.remove(fields);
    assertThat(fields).hasToString("a: 1\nb: 2\n");
  }

  @Test
  void optionsAreFoundInAnyCaseOnAnyLine() {
    Fields fields = Fields.of("Connection", "x,\t Close\t", "Connection", "keep-alive");
    assertThat(ConnectionFields.names(fields, "close")).isTrue();
    assertThat(ConnectionFields.names(fields, "keep-alive")).isTrue();
    assertThat(ConnectionFields.names(fields, "clos")).isFalse();
    assertThat(ConnectionFields.names(fields, "closed")).isFalse();
    assertThat(ConnectionFields.names(Fields.of("Connection", ""), "close")).isFalse();
    assertThat(ConnectionFields.names(Fields.of("Connections", "close"), "close")).isFalse();
  }
}
