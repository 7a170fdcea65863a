package io.kamille.core.origin.send;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.kamille.core.client.h2.TestH2Client;
import io.kamille.core.origin.send.ScriptedOrigin.Conversation;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** HTTP/2 as an origin speaks it, on one connection of a {@link ScriptedOrigin}. Of its script. */
public final class H2Conversation {

  static final int DATA = 0;
  static final int HEADERS = 1;
  static final int RST_STREAM = 3;
  public static final int SETTINGS = 4;
  static final int PUSH_PROMISE = 5;
  static final int PING = 6;
  static final int GOAWAY = 7;
  static final int WINDOW_UPDATE = 8;

  static final int END_STREAM = 1;
  static final int END_HEADERS = 4;

  private static final int PREFACE_BYTES = 24;
  private static final int ACK = 1;

  /** A frame as it came. */
  record Frame(int type, int flags, int stream, String payload) {

    boolean has(int flag) {
      return (flags & flag) != 0;
    }

    int number(int offset) {
      return Unpooled.wrappedBuffer(payload.getBytes(ISO_8859_1)).getInt(offset);
    }
  }

  private final Conversation with;
  private final DefaultHttp2HeadersDecoder decoder =
      new DefaultHttp2HeadersDecoder(false, false, 1 << 20);
  private final List<Frame> passed = new ArrayList<>();
  private Map<String, String> fields = Map.of();

  /** Takes the preface and says what is allowed, each setting an identifier and a value. */
  public H2Conversation(Conversation with, int... settings) throws IOException {
    this.with = with;
    with.read(PREFACE_BYTES);
    byte[] payload = new byte[settings.length * 3];
    var out = Unpooled.wrappedBuffer(payload).clear();
    for (int i = 0; i < settings.length; i += 2) {
      out.writeShort(settings[i]).writeInt(settings[i + 1]);
    }
    send(SETTINGS, 0, 0, payload);
  }

  H2Conversation send(int type, int flags, int stream, byte... payload) throws IOException {
    with.send(frame(type, flags, stream, payload));
    return this;
  }

  private static String frame(int type, int flags, int stream, byte... payload) {
    var frame = Unpooled.buffer();
    frame.writeMedium(payload.length).writeByte(type).writeByte(flags).writeInt(stream);
    return frame.writeBytes(payload).toString(ISO_8859_1);
  }

  /** The last of a stream, and in the same read what follows it. */
  void dataAndMore(int stream, String content, String more) throws IOException {
    with.send(frame(DATA, END_STREAM, stream, content.getBytes(ISO_8859_1)) + more);
  }

  public H2Conversation head(int stream, boolean isLast, String... fields) throws IOException {
    int flags = END_HEADERS | (isLast ? END_STREAM : 0);
    return send(HEADERS, flags, stream, TestH2Client.section(fields));
  }

  public H2Conversation data(int stream, boolean isLast, String content) throws IOException {
    return send(DATA, isLast ? END_STREAM : 0, stream, content.getBytes(ISO_8859_1));
  }

  /** A whole response without a length. */
  H2Conversation answer(int stream, String content) throws IOException {
    return head(stream, false, ":status", "200").data(stream, true, content);
  }

  H2Conversation reset(int stream, int code) throws IOException {
    return send(RST_STREAM, 0, stream, number(code));
  }

  H2Conversation goAway(int last, int code) throws IOException {
    return send(GOAWAY, 0, 0, octets(last, code));
  }

  private static byte[] octets(int first, int second) {
    byte[] both = new byte[8];
    Unpooled.wrappedBuffer(both).setInt(0, first).setInt(4, second);
    return both;
  }

  static byte[] number(int number) {
    byte[] octets = new byte[4];
    Unpooled.wrappedBuffer(octets).setInt(0, number);
    return octets;
  }

  private Frame next() throws IOException {
    byte[] header = with.read(9).getBytes(ISO_8859_1);
    var in = Unpooled.wrappedBuffer(header);
    int length = in.readUnsignedMedium();
    int type = in.readUnsignedByte();
    int flags = in.readUnsignedByte();
    int stream = in.readInt();
    return new Frame(type, flags, stream, with.read(length));
  }

  /** The next frame of this type; others are kept. Settings are acknowledged. */
  public Frame await(int type) throws IOException {
    while (true) {
      Frame frame = next();
      if (frame.type() == SETTINGS && !frame.has(ACK)) {
        send(SETTINGS, ACK, 0);
      }
      passed.add(frame);
      if (frame.type() == type) {
        return frame;
      }
    }
  }

  /** The stream of the next request, whose {@link #fields} are known then. */
  public int request() throws IOException {
    Frame frame = await(HEADERS);
    Map<String, String> decoded = new LinkedHashMap<>();
    try {
      decoder
          .decodeHeaders(
              frame.stream(), Unpooled.wrappedBuffer(frame.payload().getBytes(ISO_8859_1)))
          .forEach(field -> decoded.put(field.getKey().toString(), field.getValue().toString()));
    } catch (Http2Exception wrong) {
      throw new IOException(wrong);
    }
    fields = decoded;
    return frame.stream();
  }

  public Map<String, String> fields() {
    return fields;
  }

  /** All frames that came so far. */
  List<Frame> passed() {
    return passed;
  }

  /** So many octets of content on that stream. */
  public String content(int stream, int length) throws IOException {
    StringBuilder content = new StringBuilder();
    while (content.length() < length) {
      Frame frame = await(DATA);
      if (frame.stream() == stream) {
        content.append(frame.payload());
      }
    }
    return content.toString();
  }
}
