package io.kamille.perf.soak;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.http.Method;
import io.kamille.core.http.ResponseHead;
import io.kamille.perf.load.ScriptedOrigin;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class VerdictTest {

  private static final Subject SUBJECT = new Subject(Family.PAGE, 4);

  private final Versions versions = new Versions();

  @Test
  void theContentOfTheVersionThatItNamesIsRight() throws IOException {
    versions.change(SUBJECT);
    assertThat(fault(get(), answer(1, content(1), SUBJECT.length()))).isNull();
    assertThat(fault(get(), answer(0, content(0), SUBJECT.length()))).isNull();
  }

  @Test
  void theContentOfAnotherVersionIsWrong() throws IOException {
    versions.change(SUBJECT);
    assertThat(fault(get(), answer(1, content(0), SUBJECT.length()))).contains("other octets");
  }

  @Test
  void aVersionThatWasInvalidatedBeforeTheRequestIsWrong() throws IOException {
    versions.forbidBefore(SUBJECT, versions.change(SUBJECT));
    assertThat(fault(get(), answer(0, content(0), SUBJECT.length())))
        .contains("of before the invalidation");
  }

  @Test
  void aVersionThatWasInvalidatedAfterTheRequestHadBegunIsRight() throws IOException {
    Wanted before = get();
    versions.forbidBefore(SUBJECT, versions.change(SUBJECT));
    assertThat(fault(before, answer(0, content(0), SUBJECT.length()))).isNull();
  }

  @Test
  void aShortContentThatIsCompleteByItsFramingIsWrong() throws IOException {
    String chunked =
        head(0, "Transfer-Encoding: chunked") + "1\r\n" + content(0).charAt(0) + "\r\n0\r\n\r\n";
    assertThat(fault(get(), chunked)).contains("complete with 1 of");
  }

  @Test
  void aContentThatBreaksOffIsNoneOfThat() {
    String half = answer(0, content(0).substring(0, 10), SUBJECT.length());
    assertThatThrownBy(() -> fault(get(), half)).isInstanceOf(EOFException.class);
  }

  @Test
  void whatIsNoMessageCannotBeRead() {
    String surplus = "surplus" + answer(0, content(0), SUBJECT.length());
    assertThatThrownBy(() -> fault(get(), surplus)).isInstanceOf(ProtocolException.class);
    String longer = head(0, "Transfer-Encoding: chunked") + "1\r\nxx\r\n0\r\n\r\n";
    assertThatThrownBy(() -> fault(get(), longer)).isInstanceOf(ProtocolException.class);
  }

  @Test
  void contentThatGoesOnUntilTheConnectionEndsIsComparedToo() throws IOException {
    String head = head(0, "Connection: close");
    assertThat(fault(get(), head + content(0))).isNull();
    assertThat(fault(get(), head + content(0).substring(1))).contains("other octets");
    assertThat(fault(get(), head + content(0) + "x")).contains("more than");
  }

  @Test
  void aRangeMustBeTheOneAskedFor() throws IOException {
    int length = SUBJECT.length();
    String right = partial("bytes 3-7/" + length, content(0).substring(3, 8));
    assertThat(fault(get().range(3, 7, null), right)).isNull();
    assertThat(fault(get().range(3, 8, null), right)).contains("another range");
    assertThat(fault(get(), right)).contains("not asked for");
  }

  @Test
  void anErrorThatNobodyExplainsIsWrong() throws IOException {
    String plain = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n";
    assertThat(fault(get(), plain + "\r\n")).contains("nobody says why");
    assertThat(fault(get(), plain + "Proxy-Status: kamille\r\n\r\n")).isNull();
  }

  private Wanted get() {
    return Wanted.get(versions, SUBJECT, 0);
  }

  private @Nullable String fault(Wanted wanted, String answer) throws IOException {
    try (var script =
            ScriptedOrigin.start(
                0, socket -> socket.getOutputStream().write(answer.getBytes(ISO_8859_1)));
        var connection = SoakConnection.open(script.port(), false)) {
      ResponseHead head = connection.response(Method.GET);
      if (head == null) {
        throw new IOException("no head");
      }
      var verdict = new Verdict(wanted, head, versions);
      for (ByteBuf piece = connection.piece(); piece != null; piece = connection.piece()) {
        verdict.take(piece);
      }
      verdict.complete();
      return verdict.fault();
    }
  }

  private static String answer(long version, String content, int length) {
    return head(version, "Content-Length: " + length) + content;
  }

  private static String partial(String range, String content) {
    return head(0, "Content-Range: " + range + "\r\nContent-Length: " + content.length())
            .replace("200", "206")
        + content;
  }

  private static String head(long version, String line) {
    return "HTTP/1.1 200 OK\r\nX-Version: "
        + version
        + "\r\nETag: "
        + Subject.entityTag(0, version)
        + "\r\n"
        + line
        + "\r\n\r\n";
  }

  private static String content(long version) {
    var octets = new ByteArrayOutputStream();
    try {
      SUBJECT.content(0, version).write(octets, 0, SUBJECT.length());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return octets.toString(ISO_8859_1);
  }
}
