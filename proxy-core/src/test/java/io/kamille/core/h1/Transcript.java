package io.kamille.core.h1;

import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * What a whole connection's octets say: messages one after the other, up to the first that is
 * incomplete or malformed.
 *
 * @param messages the complete ones: start line, fields, content, trailers
 * @param isMalformed whether something malformed ends them
 * @param ending what ends them, for people
 */
record Transcript(List<String> messages, boolean isMalformed, String ending) {

  static Transcript ofRequests(List<String> pieces) {
    RequestParser parser = new RequestParser(HeadLimits.REQUEST);
    return read(
        pieces,
        parser,
        parser::reset,
        () ->
            start(
                parser.head().methodText() + " " + parser.head().target(),
                parser.head().minorVersion(),
                parser.head().fields()),
        () -> MessageFraming.of(parser.head()));
  }

  /** Responses to GET. */
  static Transcript ofResponses(List<String> pieces) {
    ResponseParser parser = new ResponseParser(HeadLimits.RESPONSE);
    return read(
        pieces,
        parser,
        parser::reset,
        () ->
            start(
                "" + parser.head().status(), parser.head().minorVersion(), parser.head().fields()),
        () -> MessageFraming.of(parser.head(), Method.GET));
  }

  private static String start(String line, int minorVersion, Fields fields) {
    return line + " 1." + minorVersion + "\n" + lines(fields);
  }

  private static String text(Cuts.Recorded content) {
    String trailers = lines(content.trailers());
    return trailers.isEmpty() ? content.content() : content.content() + "\n--\n" + trailers;
  }

  private static String lines(Fields fields) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < fields.size(); i++) {
      text.append(line(fields.nameAt(i), fields.valueAt(i)));
    }
    return text.toString();
  }

  static String line(String name, String value) {
    return name.toLowerCase(Locale.ROOT) + "=" + value + "\n";
  }

  private static Transcript read(
      List<String> pieces,
      SectionParser parser,
      Runnable reset,
      Supplier<String> start,
      LongSupplier framing) {
    List<String> messages = new ArrayList<>();
    StringBuilder message = new StringBuilder();
    Cuts.Recorded content = new Cuts.Recorded();
    ContentDecoder decoder = null;
    for (String piece : pieces) {
      ByteBuf in = Unpooled.wrappedBuffer(piece.getBytes(StandardCharsets.ISO_8859_1));
      while (true) {
        if (decoder == null) {
          SectionParser.Outcome outcome = parser.parse(in);
          if (outcome == SectionParser.Outcome.MALFORMED) {
            return new Transcript(messages, true, parser.failure().reason());
          }
          if (outcome == SectionParser.Outcome.NEED_MORE) {
            break;
          }
          message.append(start.get());
          decoder = ContentDecoder.of(framing.getAsLong());
        }
        ContentDecoder.Outcome outcome = decoder.decode(in, content);
        if (outcome == ContentDecoder.Outcome.MALFORMED) {
          return new Transcript(messages, true, decoder.failure().reason());
        }
        if (outcome == ContentDecoder.Outcome.NEED_MORE) {
          break;
        }
        messages.add(message + text(content));
        message.setLength(0);
        content = new Cuts.Recorded();
        decoder = null;
        reset.run();
      }
    }
    if (decoder != null && decoder.endsWithConnection()) {
      messages.add(message + text(content));
    }
    String unfinished = decoder == null ? "in a head" : "in content: " + message + text(content);
    return new Transcript(messages, false, unfinished);
  }
}
