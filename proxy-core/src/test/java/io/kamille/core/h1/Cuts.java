package io.kamille.core.h1;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Feeds a parser the same octets whole, cut in two at every position, and one by one, and asserts
 * that the verdict is the same each time. Octets are written as ISO 8859-1 text.
 */
final class Cuts {

  /** Inputs longer than this are cut at some positions only. */
  private static final int ALL_POSITIONS = 2_000;

  private Cuts() {}

  /**
   * What a parser made of some octets.
   *
   * @param outcome its last word
   * @param failure status code and reason after {@code MALFORMED}, else empty
   * @param seen what it read, as text
   * @param rest the octets it left in the buffer after {@code COMPLETE}
   */
  record Verdict(String outcome, String failure, String seen, String rest) {

    boolean isComplete() {
      return outcome.equals("COMPLETE");
    }

    boolean isMalformed() {
      return outcome.equals("MALFORMED");
    }

    /** The status code the sender is told. */
    int status() {
      assertThat(outcome).as("outcome of what read %s", seen).isEqualTo("MALFORMED");
      return Integer.parseInt(failure.substring(0, 3));
    }
  }

  static Verdict request(HeadLimits limits, String octets) {
    return everyWay(octets, pieces -> parse(new RequestParser(limits), pieces));
  }

  static Verdict response(HeadLimits limits, String octets) {
    return everyWay(octets, pieces -> parse(new ResponseParser(limits), pieces));
  }

  static Verdict content(long framing, String octets) {
    return everyWay(octets, pieces -> decode(ContentDecoder.of(framing), pieces));
  }

  /** The whole input, uncut. */
  static Verdict requestAtOnce(HeadLimits limits, String octets) {
    return parse(new RequestParser(limits), List.of(octets));
  }

  static Verdict requestInPieces(HeadLimits limits, List<String> pieces) {
    return parse(new RequestParser(limits), pieces);
  }

  static Verdict responseInPieces(HeadLimits limits, List<String> pieces) {
    return parse(new ResponseParser(limits), pieces);
  }

  static Verdict contentInPieces(long framing, List<String> pieces) {
    return decode(ContentDecoder.of(framing), pieces);
  }

  private static Verdict everyWay(String octets, Function<List<String>, Verdict> parse) {
    Verdict whole = parse.apply(List.of(octets));
    assertThat(parse.apply(oneByOne(octets))).as("one by one: %s", octets).isEqualTo(whole);
    int step = 1 + octets.length() / ALL_POSITIONS;
    for (int cut = 1; cut < octets.length(); cut += step) {
      assertThat(parse.apply(List.of(octets.substring(0, cut), octets.substring(cut))))
          .as("cut at %d: %s", cut, octets)
          .isEqualTo(whole);
    }
    return whole;
  }

  static List<String> oneByOne(String octets) {
    return octets.chars().mapToObj(Character::toString).toList();
  }

  private static Verdict parse(SectionParser parser, List<String> pieces) {
    SectionParser.Outcome outcome = SectionParser.Outcome.NEED_MORE;
    StringBuilder rest = new StringBuilder();
    for (String piece : pieces) {
      if (outcome != SectionParser.Outcome.NEED_MORE) {
        rest.append(piece);
        continue;
      }
      ByteBuf in = exactly(piece);
      outcome = parser.parse(in);
      if (outcome == SectionParser.Outcome.NEED_MORE) {
        assertThat(in.isReadable()).as("octets left although more are wanted").isFalse();
      }
      rest.append(in.toString(StandardCharsets.ISO_8859_1));
    }
    return switch (outcome) {
      case NEED_MORE -> new Verdict(outcome.name(), "", "", "");
      case MALFORMED -> new Verdict(outcome.name(), text(parser.failure()), "", "");
      case COMPLETE -> new Verdict(outcome.name(), "", seen(parser), rest.toString());
    };
  }

  private static String seen(SectionParser parser) {
    return switch (parser) {
      case RequestParser request -> describe(request.head());
      case ResponseParser response -> describe(response.head());
      default -> throw new AssertionError(parser.getClass());
    };
  }

  static String describe(RequestHead head) {
    return head.methodText()
        + "|"
        + head.form()
        + "|"
        + head.target()
        + "|"
        + head.authority()
        + "|"
        + head.path()
        + "|"
        + head.pathAndQuery()
        + "|1."
        + head.minorVersion()
        + "\n"
        + head.fields();
  }

  static String describe(ResponseHead head) {
    return head.status() + "|1." + head.minorVersion() + "\n" + head.fields();
  }

  private static Verdict decode(ContentDecoder decoder, List<String> pieces) {
    Recorded recorded = new Recorded();
    ContentDecoder.Outcome outcome = ContentDecoder.Outcome.NEED_MORE;
    StringBuilder rest = new StringBuilder();
    for (String piece : pieces) {
      if (outcome != ContentDecoder.Outcome.NEED_MORE) {
        rest.append(piece);
        continue;
      }
      ByteBuf in = exactly(piece);
      outcome = decoder.decode(in, recorded);
      rest.append(in.toString(StandardCharsets.ISO_8859_1));
      assertThat(in.refCnt()).as("slices still held").isEqualTo(1);
      in.release();
    }
    assertThat(recorded.ended)
        .as("end is called once the content is complete, and only then")
        .isEqualTo(outcome == ContentDecoder.Outcome.COMPLETE);
    return switch (outcome) {
      case NEED_MORE -> new Verdict(outcome.name(), "", recorded.text(), "");
      case MALFORMED -> new Verdict(outcome.name(), text(decoder.failure()), recorded.text(), "");
      case COMPLETE -> new Verdict(outcome.name(), "", recorded.text(), rest.toString());
    };
  }

  private static String text(Failure failure) {
    return failure.status() + " " + failure.reason();
  }

  /** A buffer without an octet of room, so that reading past the end cannot go unnoticed. */
  private static ByteBuf exactly(String octets) {
    return Unpooled.wrappedBuffer(octets.getBytes(StandardCharsets.ISO_8859_1));
  }

  /** Joins what a decoder delivers. */
  static final class Recorded implements ContentSink {

    private final StringBuilder content = new StringBuilder();
    private Fields trailers = new Fields();
    private boolean ended;

    @Override
    public void write(ByteBuf chunk) {
      content.append(chunk.toString(StandardCharsets.ISO_8859_1));
      assertThat(chunk.isReadable()).as("an empty chunk").isTrue();
      chunk.release();
    }

    @Override
    public void end(@Nullable Fields trailers) {
      assertThat(ended).as("ended twice").isFalse();
      ended = true;
      if (trailers != null) {
        this.trailers = trailers.copy();
      }
    }

    @Override
    public void abort(Failure why) {
      throw new AssertionError("a decoder never aborts: " + why);
    }

    String content() {
      return content.toString();
    }

    Fields trailers() {
      return trailers;
    }

    String text() {
      return trailers.size() == 0 ? content() : content + "\n--\n" + trailers;
    }
  }
}
