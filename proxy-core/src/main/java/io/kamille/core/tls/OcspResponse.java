package io.kamille.core.tls;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What the authority of a certificate says of it, to be stapled to handshakes (RFC 6960, RFC 6066
 * §8). Immutable; any thread.
 */
public final class OcspResponse {

  /*
   *   OCSPResponse ::= { status ENUMERATED, [0] { OID basic, OCTET STRING { basic } } }
   *   basic ::= { tbs, algorithm, signature, … }
   *   tbs ::= { [0] version OPTIONAL, responder [1] or [2], time, responses { single … }, … }
   *   single ::= { id { algorithm, nameHash, keyHash, serial },
   *                good [0] | revoked [1] | unknown [2], thisUpdate, [0] nextUpdate OPTIONAL, … }
   *
   * The signature is the client's to verify. Looked at is what an operator gets wrong: another
   * file, another certificate, an answer that is no good or too old.
   */
  private static final long MOST_BYTES = 64 * 1024;
  private static final int GOOD = 0x80;
  private static final int REVOKED = 0xa1;
  private static final int CONTEXT_0 = 0xa0;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuuMMddHHmmss'Z'", Locale.ROOT);

  private final byte[] octets;
  private final @Nullable Instant nextUpdate;

  private OcspResponse(byte[] octets, @Nullable Instant nextUpdate) {
    this.octets = octets;
    this.nextUpdate = nextUpdate;
  }

  /**
   * Reads a response in DER.
   *
   * @param certificate that it has to be for
   * @throws IOException with one sentence: which file, what is wrong with it
   */
  public static OcspResponse read(Path file, X509Certificate certificate) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw new IOException(file + ": no such file");
    }
    if (Files.size(file) > MOST_BYTES) {
      throw new IOException(file + ": larger than any OCSP response");
    }
    try {
      return of(Files.readAllBytes(file), certificate.getSerialNumber());
    } catch (IllegalArgumentException | DateTimeException wrong) {
      throw new IOException(file + ": no OCSP response to use: " + wrong.getMessage(), wrong);
    }
  }

  /** The same for the first certificate of a chain, as PEM. */
  public static OcspResponse read(Path file, Path chainFile) throws IOException {
    return read(file, PemFile.certificates(chainFile).getFirst());
  }

  private static OcspResponse of(byte[] octets, BigInteger serial) {
    Der.Element whole = element(octets, 0, Der.SEQUENCE);
    Der.Element status = Der.read(octets, whole.start());
    if (octets[status.start()] != 0) {
      throw new IllegalArgumentException("the authority refused to answer");
    }
    Der.Element bytes = element(octets, Der.read(octets, status.end()).start(), Der.SEQUENCE);
    Der.Element type = Der.read(octets, bytes.start());
    Der.Element basic = element(octets, type.end(), Der.OCTET_STRING);
    Der.Element tbs =
        element(octets, element(octets, basic.start(), Der.SEQUENCE).start(), Der.SEQUENCE);
    Der.Element part = Der.read(octets, tbs.start());
    if (part.tag() == CONTEXT_0) {
      part = Der.read(octets, part.end());
    }
    Der.Element produced = Der.read(octets, part.end());
    Der.Element responses = element(octets, produced.end(), Der.SEQUENCE);
    for (int at = responses.start(); at < responses.end(); ) {
      Der.Element single = element(octets, at, Der.SEQUENCE);
      Der.Element id = element(octets, single.start(), Der.SEQUENCE);
      if (serial(octets, id).equals(serial)) {
        return of(octets, id, single);
      }
      at = single.end();
    }
    throw new IllegalArgumentException("it is for another certificate");
  }

  private static BigInteger serial(byte[] octets, Der.Element id) {
    int at = id.start();
    for (int skipped = 0; skipped < 3; skipped++) {
      at = Der.read(octets, at).end();
    }
    Der.Element serial = element(octets, at, Der.INTEGER);
    return new BigInteger(Arrays.copyOfRange(octets, serial.start(), serial.end()));
  }

  private static OcspResponse of(byte[] octets, Der.Element id, Der.Element single) {
    Der.Element status = Der.read(octets, id.end());
    if (status.tag() != GOOD) {
      throw new IllegalArgumentException(
          status.tag() == REVOKED ? "the certificate is revoked" : "the certificate is unknown");
    }
    Der.Element thisUpdate = Der.read(octets, status.end());
    Instant until = null;
    if (thisUpdate.end() < single.end()) {
      Der.Element next = Der.read(octets, thisUpdate.end());
      if (next.tag() == CONTEXT_0) {
        until = time(octets, Der.read(octets, next.start()));
      }
    }
    return new OcspResponse(octets, until);
  }

  private static Der.Element element(byte[] octets, int at, int tag) {
    Der.Element element = Der.read(octets, at);
    if (element.tag() != tag) {
      throw new IllegalArgumentException("other values than an OCSP response in DER has");
    }
    return element;
  }

  private static Instant time(byte[] octets, Der.Element time) {
    int length = time.end() - time.start();
    String text = new String(octets, time.start(), length, StandardCharsets.US_ASCII);
    return LocalDateTime.parse(text, TIME).toInstant(ZoneOffset.UTC);
  }

  /** When there is to be a newer one; clients refuse it then. Null if that is not said. */
  public @Nullable Instant nextUpdate() {
    return nextUpdate;
  }

  /** Whether clients accept it. */
  boolean isFresh(long epochMillis) {
    return nextUpdate == null || epochMillis < nextUpdate.toEpochMilli();
  }

  byte[] octets() {
    return octets.clone();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof OcspResponse same && Arrays.equals(octets, same.octets);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(octets);
  }

  @Override
  public String toString() {
    return nextUpdate == null ? "OCSP response" : "OCSP response until " + nextUpdate;
  }
}
