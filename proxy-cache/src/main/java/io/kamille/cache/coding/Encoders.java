package io.kamille.cache.coding;

import com.aayushatharva.brotli4j.Brotli4jLoader;
import com.aayushatharva.brotli4j.encoder.BrotliOutputStream;
import com.aayushatharva.brotli4j.encoder.Encoder.Parameters;
import com.github.luben.zstd.ZstdOutputStream;
import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import com.github.luben.zstd.util.Native;
import io.kamille.core.http.ContentCoding;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.util.EnumMap;
import java.util.Map;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/** The content codings that this machine can make. Any thread. */
final class Encoders {

  /*
   * The levels: content is coded once and sent often, yet a worker that takes a second for a page
   * leaves others uncoded. These are the ones behind which a tenth of the octets costs twice the
   * time. A window of zstd is at most 8 MiB (RFC 9659 §3); at this level it is 4 MiB.
   *
   * The libraries unpack their native code into the directory for temporary files. Where that is
   * impossible, the coding is left out.
   */
  private static final int GZIP_LEVEL = Deflater.DEFAULT_COMPRESSION;
  private static final int ZSTD_LEVEL = 9;
  private static final int BROTLI_QUALITY = 6;
  private static final int QUICK_LEVEL = 1;

  private static final System.Logger LOG = System.getLogger("kamille.cache");

  /** Makes a stream that codes what is written to it and closes the stream behind it. */
  @FunctionalInterface
  interface Encoder {
    OutputStream over(OutputStream out) throws IOException;
  }

  private static final class Holder {
    private static final Map<ContentCoding, Encoder> AVAILABLE = load();
  }

  private Encoders() {}

  /** How content is given that coding, or null if this machine cannot. The first call loads. */
  static @Nullable Encoder of(ContentCoding coding) {
    return Holder.AVAILABLE.get(coding);
  }

  /** A quick encoder for content on its way, or null if there is none. */
  static @Nullable OutputStream quick(ContentCoding coding, OutputStream out) {
    try {
      return switch (coding) {
        case GZIP -> new Gzip(out, QUICK_LEVEL);
        case ZSTD -> of(coding) == null ? null : new ZstdOutputStreamNoFinalizer(out, QUICK_LEVEL);
        case BR -> null;
      };
    } catch (IOException ofTheOutput) {
      throw new UncheckedIOException(ofTheOutput);
    }
  }

  private static Map<ContentCoding, Encoder> load() {
    Map<ContentCoding, Encoder> available = new EnumMap<>(ContentCoding.class);
    available.put(ContentCoding.GZIP, out -> new Gzip(out, GZIP_LEVEL));
    try {
      Native.load();
      available.put(ContentCoding.ZSTD, out -> new ZstdOutputStream(out, ZSTD_LEVEL));
    } catch (LinkageError e) {
      leftOut(ContentCoding.ZSTD, e);
    }
    Throwable trouble = Brotli4jLoader.getUnavailabilityCause();
    if (trouble == null) {
      Parameters parameters = Parameters.create(BROTLI_QUALITY);
      available.put(ContentCoding.BR, out -> new BrotliOutputStream(out, parameters));
    } else {
      leftOut(ContentCoding.BR, trouble);
    }
    return available;
  }

  private static void leftOut(ContentCoding coding, Throwable why) {
    LOG.log(
        Level.WARNING, "content is not compressed by " + coding.token() + ": " + why.getMessage());
  }

  /** Gives what it has at each flush. */
  private static final class Gzip extends GZIPOutputStream {

    Gzip(OutputStream out, int level) throws IOException {
      super(out, 4096, true);
      def.setLevel(level);
    }
  }
}
