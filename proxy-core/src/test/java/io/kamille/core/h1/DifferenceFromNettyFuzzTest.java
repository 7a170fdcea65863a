package io.kamille.core.h1;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * What we accept, Netty accepts and reads the same: start line, fields, content, and where the next
 * message begins. Netty may only be more lenient.
 */
class DifferenceFromNettyFuzzTest {

  private static final int ROUNDS = RequestParserFuzzTest.ROUNDS;
  private static final long SEED = RequestParserFuzzTest.SEED;

  @Test
  void requestsMeanTheSameToNetty() {
    compare(
        Corpus.REQUESTS,
        Transcript::ofRequests,
        octets -> read(new HttpRequestDecoder(config()), octets));
  }

  @Test
  void responsesMeanTheSameToNetty() {
    compare(
        Corpus.RESPONSES,
        Transcript::ofResponses,
        octets -> read(new HttpResponseDecoder(config()), octets));
  }

  private static void compare(
      List<String> seeds,
      Function<List<String>, Transcript> ours,
      Function<String, Transcript> netty) {
    SplittableRandom random = new SplittableRandom(SEED);
    long accepted = 0;
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      String octets =
          budget.round() <= seeds.size()
              ? seeds.get((int) budget.round() - 1)
              : Corpus.mutant(seeds, random);
      accepted += compare(octets, ours, netty);
    }
    budget.report("difference from Netty");
    assertThat(accepted).as("messages compared").isGreaterThan(budget.round() / 10);
  }

  static void compareRequests(String octets) {
    compare(octets, Transcript::ofRequests, o -> read(new HttpRequestDecoder(config()), o));
  }

  static void compareResponses(String octets) {
    compare(octets, Transcript::ofResponses, o -> read(new HttpResponseDecoder(config()), o));
  }

  /** Compares both readings; how many messages of ours were compared. */
  private static int compare(
      String octets, Function<List<String>, Transcript> ours, Function<String, Transcript> netty) {
    Transcript us = ours.apply(List.of(octets));
    if (isSwitched(us)) {
      return 0;
    }
    Transcript them = netty.apply(octets);
    String what = "seed " + SEED + ", octets <<" + octets + ">>\nours " + us + "\nnetty " + them;
    boolean stricter = isStricter(them) || isOverLengthOfNothing(us, them);
    List<String> expected =
        us.messages().stream().map(DifferenceFromNettyFuzzTest::asNettyTellsIt).toList();
    if (stricter) {
      expected = expected.subList(0, Math.min(expected.size(), them.messages().size()));
    }
    assertThat(
            them.messages().stream()
                .limit(expected.size())
                .map(DifferenceFromNettyFuzzTest::asNettyTellsIt)
                .toList())
        .as(what)
        .isEqualTo(expected);
    if (!us.isMalformed() && !stricter) {
      // An unfinished message of ours must not be a finished one of theirs.
      assertThat(them.messages()).as(what).hasSameSizeAs(expected);
    }
    return us.messages().size();
  }

  // Known differences, each with the reason why it may stay

  /**
   * Whether Netty gave up where we need not: it checks the grammar of chunk extensions (and trips
   * over obs-text in them). We only make sure that their line ends where everybody sees its end,
   * and pass none of them on. And it allows no Transfer-Encoding in a version above 1.1, which RFC
   * 9110 §6.2 has us read as 1.1.
   */
  private static boolean isStricter(Transcript netty) {
    return netty.ending().contains("InvalidChunkExtensionException")
        || netty.ending().contains("IndexOutOfBoundsException: bitIndex < 0")
        || netty.ending().contains("TransferEncodingNotAllowedException");
  }

  /** It wants one number in a 204 and a 304, too, which end with their head (RFC 9112 §6.3). */
  private static boolean isOverLengthOfNothing(Transcript us, Transcript netty) {
    int at = netty.messages().size();
    return netty.ending().contains("Content-Length value")
        && at < us.messages().size()
        && WITHOUT_CONTENT.matcher(us.messages().get(at)).lookingAt();
  }

  /** Behind a 101 nothing is HTTP any more, and Netty looks no further. */
  private static boolean isSwitched(Transcript us) {
    return us.messages().stream().anyMatch(message -> message.startsWith("101 1."));
  }

  /**
   * A message in Netty's telling: it forgets some framing fields of a response that has no content;
   * we leave that to whoever removes connection-specific fields.
   */
  private static String asNettyTellsIt(String message) {
    return WITHOUT_CONTENT.matcher(message).lookingAt()
        ? CODING.matcher(message).replaceAll("")
        : message;
  }

  private static final Pattern WITHOUT_CONTENT = Pattern.compile("(1..|204|304) 1\\.");
  private static final Pattern CODING =
      Pattern.compile("(?m)^(transfer-encoding|content-length)=.*\n");

  private static HttpDecoderConfig config() {
    return new HttpDecoderConfig()
        .setMaxInitialLineLength(64 * 1024)
        .setMaxHeaderSize(64 * 1024)
        .setMaxChunkSize(Integer.MAX_VALUE);
  }

  private static Transcript read(ChannelHandler decoder, String octets) {
    EmbeddedChannel channel = new EmbeddedChannel(decoder);
    channel.writeInbound(Unpooled.wrappedBuffer(octets.getBytes(StandardCharsets.ISO_8859_1)));
    channel.finish();
    List<String> messages = new ArrayList<>();
    StringBuilder message = new StringBuilder();
    String fault = "";
    for (Object read = channel.readInbound(); read != null; read = channel.readInbound()) {
      if (!(read instanceof HttpObject part)) {
        ReferenceCountUtil.release(read);
        continue;
      }
      if (fault.isEmpty() && part.decoderResult().isFailure()) {
        fault = part.decoderResult().cause().toString();
      }
      if (fault.isEmpty()) {
        append(message, part);
        if (part instanceof LastHttpContent) {
          messages.add(message.toString());
          message.setLength(0);
        }
      }
      ReferenceCountUtil.release(part);
    }
    return new Transcript(messages, !fault.isEmpty(), fault.isEmpty() ? message.toString() : fault);
  }

  private static void append(StringBuilder text, HttpObject part) {
    if (part instanceof HttpMessage head) {
      String line =
          switch (head) {
            case HttpRequest request -> request.method() + " " + request.uri();
            case HttpResponse response -> "" + response.status().code();
            default -> throw new AssertionError(head);
          };
      int minor = Math.min(head.protocolVersion().minorVersion(), 1);
      text.append(line).append(" 1.").append(minor).append('\n').append(lines(head.headers()));
    }
    if (part instanceof HttpContent content) {
      text.append(content.content().toString(StandardCharsets.ISO_8859_1));
    }
    if (part instanceof LastHttpContent last) {
      HttpHeaders trailers = last.trailingHeaders();
      trailers.names().stream().filter(name -> !mayTrail(name)).forEach(trailers::remove);
      if (!trailers.isEmpty()) {
        text.append("\n--\n").append(lines(trailers));
      }
    }
  }

  /** Whether we pass a trailer of that name on: we drop more of them than Netty. */
  private static boolean mayTrail(String name) {
    return !Cuts.content(MessageFraming.CHUNKED, "0\r\n" + name + ": x\r\n\r\n").seen().isEmpty();
  }

  private static String lines(HttpHeaders headers) {
    StringBuilder text = new StringBuilder();
    for (Map.Entry<String, String> line : headers) {
      text.append(Transcript.line(line.getKey(), line.getValue()));
    }
    return text.toString();
  }
}
