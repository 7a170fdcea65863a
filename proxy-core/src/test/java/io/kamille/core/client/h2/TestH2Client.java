package io.kamille.core.client.h2;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** A client that sends any frame it is told to, by prior knowledge (RFC 9113 §3.3). */
public final class TestH2Client implements AutoCloseable {

  public static final int DATA = 0;
  public static final int HEADERS = 1;
  public static final int PRIORITY = 2;
  public static final int RST_STREAM = 3;
  public static final int SETTINGS = 4;
  public static final int PING = 6;
  public static final int GOAWAY = 7;
  public static final int WINDOW_UPDATE = 8;
  public static final int CONTINUATION = 9;
  public static final int PRIORITY_UPDATE = 16;

  public static final int END_STREAM = 1;
  public static final int ACK = 1;
  public static final int END_HEADERS = 4;
  public static final int PADDED = 8;

  private static final int TIMEOUT_MILLIS = 60_000;
  private static final int END_OF_CONNECTION = -1;

  /** A frame as it came. */
  public static final class Frame {

    private final int type;
    private final int flags;
    private final int stream;
    private final byte[] payload;

    private Frame(int type, int flags, int stream, byte[] payload) {
      this.type = type;
      this.flags = flags;
      this.stream = stream;
      this.payload = payload;
    }

    public int type() {
      return type;
    }

    public int stream() {
      return stream;
    }

    public byte[] payload() {
      return payload;
    }

    public boolean has(int flag) {
      return (flags & flag) != 0;
    }

    public int number(int offset) {
      return Unpooled.wrappedBuffer(payload).getInt(offset);
    }
  }

  /** An answer whose END_STREAM has come. */
  public record Answer(
      int status, Map<String, String> fields, String content, Map<String, String> trailers) {}

  private final Socket socket;
  private final DataInputStream in;
  private final DataOutputStream out;
  private final ByteArrayOutputStream waiting = new ByteArrayOutputStream();
  private final ArrayDeque<Frame> passed = new ArrayDeque<>();
  private final DefaultHttp2HeadersDecoder decoder =
      new DefaultHttp2HeadersDecoder(false, false, 1 << 20);

  private TestH2Client(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new DataInputStream(socket.getInputStream());
    this.out = new DataOutputStream(waiting);
  }

  /** Connects, and begins with the preface and these settings, each an identifier and a value. */
  public static TestH2Client connect(InetSocketAddress address, int... settings) {
    return connectBehind(address, "", settings);
  }

  /** The same with octets in front of the preface, such as a header of the PROXY protocol. */
  public static TestH2Client connectBehind(
      InetSocketAddress address, String octets, int... settings) {
    try {
      Socket socket = new Socket();
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(TIMEOUT_MILLIS);
      socket.connect(address, TIMEOUT_MILLIS);
      socket.getOutputStream().write(octets.getBytes(US_ASCII));
      return over(socket, settings);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** The same on a connection that stands; takes it over. */
  public static TestH2Client over(Socket socket, int... settings) {
    try {
      TestH2Client client = new TestH2Client(socket);
      client.out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(US_ASCII));
      return client.settings(settings).flush();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  // Frames out: they leave with flush()

  public TestH2Client frame(int type, int flags, int stream, byte... payload) {
    try {
      out.writeByte(payload.length >> 16);
      out.writeShort(payload.length);
      out.writeByte(type);
      out.writeByte(flags);
      out.writeInt(stream);
      out.write(payload);
      return this;
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  /** Octets as they are. */
  public TestH2Client raw(byte... octets) {
    waiting.writeBytes(octets);
    return this;
  }

  public TestH2Client settings(int... settings) {
    ByteBuf payload = Unpooled.buffer();
    for (int i = 0; i < settings.length; i += 2) {
      payload.writeShort(settings[i]).writeInt(settings[i + 1]);
    }
    return frame(SETTINGS, 0, 0, octets(payload));
  }

  public TestH2Client window(int stream, int bytes) {
    return frame(WINDOW_UPDATE, 0, stream, octets(Unpooled.buffer().writeInt(bytes)));
  }

  public TestH2Client reset(int stream) {
    return frame(RST_STREAM, 0, stream, octets(Unpooled.buffer().writeInt(8)));
  }

  public TestH2Client ping() {
    return frame(PING, 0, 0, new byte[8]);
  }

  public TestH2Client data(int stream, String content, boolean isLast) {
    byte[] octets = content.getBytes(StandardCharsets.ISO_8859_1);
    return frame(DATA, isLast ? END_STREAM : 0, stream, octets);
  }

  /** A GET. */
  public TestH2Client get(int stream, String path, String... fields) {
    return request(stream, "GET", path, true, fields);
  }

  /** A request with these fields, names and values in turn. */
  public TestH2Client request(
      int stream, String method, String path, boolean isLast, String... fields) {
    String[] all = new String[8 + fields.length];
    String[] pseudo = {":method", method, ":scheme", "http", ":path", path, ":authority", "a"};
    System.arraycopy(pseudo, 0, all, 0, 8);
    System.arraycopy(fields, 0, all, 8, fields.length);
    return headers(stream, isLast, all);
  }

  /** A header section of these fields and no others, in one frame. */
  public TestH2Client headers(int stream, boolean isLast, String... fields) {
    return frame(HEADERS, END_HEADERS | (isLast ? END_STREAM : 0), stream, section(fields));
  }

  /** Literals without indexing (RFC 7541 §6.2.2). */
  public static byte[] section(String... fields) {
    ByteBuf section = Unpooled.buffer();
    for (int i = 0; i < fields.length; i += 2) {
      section.writeByte(0);
      text(section, fields[i]);
      text(section, fields[i + 1]);
    }
    return octets(section);
  }

  private static void text(ByteBuf section, String text) {
    byte[] octets = text.getBytes(StandardCharsets.ISO_8859_1);
    if (octets.length < 127) {
      section.writeByte(octets.length);
    } else {
      section.writeByte(127);
      int rest = octets.length - 127;
      while (rest >= 128) {
        section.writeByte(rest % 128 + 128);
        rest /= 128;
      }
      section.writeByte(rest);
    }
    section.writeBytes(octets);
  }

  private static byte[] octets(ByteBuf buffer) {
    byte[] octets = new byte[buffer.readableBytes()];
    buffer.readBytes(octets);
    return octets;
  }

  /** Sends what was said so far; a server that has closed the connection is no failure. */
  public TestH2Client flush() {
    try {
      socket.getOutputStream().write(waiting.toByteArray());
    } catch (IOException closed) {
      // What it said before is there to be read.
    }
    waiting.reset();
    return this;
  }

  /** As {@link #flush}, in as many segments as octets. */
  TestH2Client flushOctetByOctet() {
    try {
      for (byte octet : waiting.toByteArray()) {
        socket.getOutputStream().write(octet);
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    waiting.reset();
    return this;
  }

  // Frames in

  /** The next frame; of type -1 if the connection has ended. */
  private Frame read() {
    try {
      int length = (in.readUnsignedByte() << 16) + in.readUnsignedShort();
      int type = in.readUnsignedByte();
      int flags = in.readUnsignedByte();
      int stream = in.readInt();
      return new Frame(type, flags, stream, in.readNBytes(length));
    } catch (EOFException end) {
      return new Frame(END_OF_CONNECTION, 0, 0, new byte[0]);
    } catch (IOException failed) {
      if (failed instanceof SocketException) {
        return new Frame(END_OF_CONNECTION, 0, 0, new byte[0]);
      }
      throw new UncheckedIOException(failed);
    }
  }

  /** The next frame of this type on this stream; others before it are kept for later calls. */
  public Frame await(int type, int stream) {
    flush();
    for (Frame frame : passed) {
      if (frame.type() == type && frame.stream() == stream) {
        passed.remove(frame);
        return frame;
      }
    }
    while (true) {
      Frame frame = read();
      if (frame.type() == type && frame.stream() == stream) {
        return frame;
      }
      if (frame.type() == END_OF_CONNECTION) {
        throw new AssertionError("the connection ended before frame " + type + " of " + stream);
      }
      passed.add(frame);
    }
  }

  /** The next frame with content, whatever its stream. */
  Frame nextContent() {
    while (true) {
      Frame frame = read();
      if (frame.type() == DATA) {
        return frame;
      }
      if (frame.type() == END_OF_CONNECTION) {
        throw new AssertionError("the connection ended before any content");
      }
    }
  }

  /** The error code of the reset of this stream. */
  public int resetCode(int stream) {
    return await(RST_STREAM, stream).number(0);
  }

  /** The error code of the GOAWAY that ends the connection, and that it ends. */
  public int goAwayCode() {
    int code = await(GOAWAY, 0).number(4);
    awaitEnd();
    return code;
  }

  public void awaitEnd() {
    flush();
    while (read().type() != END_OF_CONNECTION) {
      // Nobody cares.
    }
  }

  /** Waits until the server has read everything said before. */
  public TestH2Client settle() {
    ping().flush();
    while (!await(PING, 0).has(ACK)) {
      // A PING of the server.
    }
    return this;
  }

  /** As {@link #settle}, unless the connection has ended. */
  TestH2Client settleIfOpen() {
    try {
      return settle();
    } catch (AssertionError ended) {
      return this;
    }
  }

  /** Frames that came on this stream and were not asked for yet. */
  long passed(int type, int stream) {
    return passed.stream().filter(f -> f.type() == type && f.stream() == stream).count();
  }

  /** Whether a whole answer came on this stream; false if it was reset, or the connection ended. */
  public boolean isAnswered(int stream) {
    flush();
    while (true) {
      Frame frame = read();
      boolean isMine = frame.stream() == stream;
      if (frame.type() == END_OF_CONNECTION || (isMine && frame.type() == RST_STREAM)) {
        return false;
      }
      if (isMine && frame.has(END_STREAM) && frame.type() != WINDOW_UPDATE) {
        return true;
      }
    }
  }

  /** The head of an answer on this stream that may go on. */
  public Answer head(int stream) {
    Map<String, String> fields = fields(stream);
    int status = Integer.parseInt(String.valueOf(fields.get(":status")));
    return new Answer(status, fields, "", Map.of());
  }

  /** The fields of the next section of this stream. */
  public Map<String, String> fields(int stream) {
    Map<String, String> fields = new LinkedHashMap<>();
    decode(stream, await(HEADERS, stream).payload())
        .forEach(field -> fields.put(field.getKey().toString(), field.getValue().toString()));
    return fields;
  }

  /** The answer on this stream. */
  public Answer answer(int stream) {
    int status = 0;
    Map<String, String> fields = new LinkedHashMap<>();
    Map<String, String> trailers = new LinkedHashMap<>();
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    boolean isFirst = true;
    while (true) {
      Frame frame = next(stream);
      if (frame.type() == HEADERS) {
        Http2Headers section = decode(stream, frame.payload());
        section.forEach(
            field ->
                (isHead(section) ? fields : trailers)
                    .put(field.getKey().toString(), field.getValue().toString()));
        if (isFirst) {
          status = Integer.parseInt(String.valueOf(fields.get(":status")));
          isFirst = false;
        }
      } else if (frame.type() == DATA) {
        content.writeBytes(frame.payload());
      } else {
        throw new AssertionError(
            "stream " + stream + ": frame " + frame.type() + Arrays.toString(frame.payload()));
      }
      if (frame.has(END_STREAM) || (status > 0 && status < 200)) {
        String text = content.toString(StandardCharsets.ISO_8859_1);
        return new Answer(status, fields, text, trailers);
      }
    }
  }

  private static boolean isHead(Http2Headers section) {
    return section.status() != null;
  }

  private Frame next(int stream) {
    flush();
    for (Frame frame : passed) {
      if (frame.stream() == stream && frame.type() != WINDOW_UPDATE) {
        passed.remove(frame);
        return frame;
      }
    }
    while (true) {
      Frame frame = read();
      if (frame.type() == END_OF_CONNECTION) {
        throw new AssertionError("the connection ended before the end of stream " + stream);
      }
      if (frame.stream() == stream && frame.type() != WINDOW_UPDATE) {
        return frame;
      }
      passed.add(frame);
    }
  }

  private Http2Headers decode(int stream, byte[] section) {
    try {
      return decoder.decodeHeaders(stream, Unpooled.wrappedBuffer(section));
    } catch (Http2Exception wrong) {
      throw new AssertionError(wrong);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Closes this side; the other may still speak. */
  public void closeOutput() {
    try {
      socket.shutdownOutput();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
