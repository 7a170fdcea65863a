package io.kamille.core.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.ReferenceCountedOpenSslEngine;
import io.netty.handler.ssl.SslContext;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** OCSP responses of a file, stapled to handshakes (RFC 6066 §8). */
class OcspTest {

  private static final byte[] GOOD = Der.element(0x80);
  private static final byte[] REVOKED = Der.element(0xa1, Der.time("20260102030405Z"));
  private static final byte[] UNKNOWN = Der.element(0x82);
  private static final String FUTURE = "20990102030405Z";
  private static final String PAST = "20200102030405Z";

  @TempDir Path directory;
  private final Certificates authority = new Certificates("authority");
  private final ServerCertificate plain = authority.ecdsa("first.test");
  private final BigInteger serial = plain.chain().getFirst().getSerialNumber();

  OcspTest() throws GeneralSecurityException {}

  /** A response whose signature nobody looks at. */
  private static byte[] response(BigInteger serial, byte[] status, String until) {
    byte[] sha1 = Der.sequence(Der.identifier("1.3.14.3.2.26"), Der.NULL);
    byte[] hash = Der.element(Der.OCTET_STRING, new byte[20]);
    byte[] single =
        Der.sequence(
            Der.sequence(sha1, hash, hash, Der.integer(serial)),
            status,
            Der.time("20260102030405Z"),
            Der.element(0xa0, Der.time(until)));
    byte[] tbs =
        Der.sequence(Der.element(0xa2, hash), Der.time("20260102030405Z"), Der.sequence(single));
    byte[] basic = Der.sequence(tbs, sha1, Der.bits(new byte[64]));
    return Der.sequence(
        Der.element(0x0a, new byte[] {0}),
        Der.element(
            0xa0,
            Der.sequence(
                Der.identifier("1.3.6.1.5.5.7.48.1.1"), Der.element(Der.OCTET_STRING, basic))));
  }

  private Path file(byte[] octets) throws IOException {
    return Files.write(directory.resolve("ocsp.der"), octets);
  }

  /** What a client that asks is given by a server with these certificates. */
  private static byte[] stapled(ServerCertificate... certificates) throws IOException {
    ServerTls tls =
        ServerTls.open(
            Handshake.policy(ClientCertificates.NONE), List.of(certificates), Runnable::run);
    SslContext client = Handshake.client().protocols("TLSv1.3").enableOcsp(true).build();
    try (var handshake = new Handshake(client, tls, "first.test")) {
      assertThat(handshake.isDone()).isTrue();
      byte[] response =
          ((ReferenceCountedOpenSslEngine) handshake.clientTls.engine()).getOcspResponse();
      return response == null ? new byte[0] : response;
    } finally {
      tls.close();
      ReferenceCountUtil.release(client);
    }
  }

  @Test
  void aFreshResponseIsStapled() throws Exception {
    assumeTrue(OpenSsl.isOcspSupported(), "the JDK's provider staples nothing of ours");
    byte[] fresh = response(serial, GOOD, FUTURE);
    assertThat(stapled(plain)).isEmpty();
    assertThat(stapled(plain.stapled(file(fresh)))).isEqualTo(fresh);
  }

  @Test
  void aResponseThatClientsRefuseIsNotStapled() throws Exception {
    assumeTrue(OpenSsl.isOcspSupported(), "the JDK's provider staples nothing of ours");
    assertThat(stapled(plain.stapled(file(response(serial, GOOD, PAST))))).isEmpty();
  }

  @Test
  void nothingIsStapledWhereTwoCertificatesAreForAName() throws Exception {
    assumeTrue(OpenSsl.isOcspSupported(), "the JDK's provider staples nothing of ours");
    ServerCertificate own = plain.stapled(file(response(serial, GOOD, FUTURE)));
    ServerCertificate other = authority.rsa("first.test");
    assertThat(stapled(own, other)).isEmpty();
    assertThat(wastes(own, other)).isTrue();
    assertThat(wastes(own, authority.rsa("second.test"))).isFalse();
    assertThat(wastes(plain, other)).isFalse();
  }

  private static boolean wastes(ServerCertificate... certificates) throws IOException {
    try (ServerTls tls =
        ServerTls.open(
            Handshake.policy(ClientCertificates.NONE), List.of(certificates), Runnable::run)) {
      return tls.wastesOcsp();
    }
  }

  @Test
  void aNewResponseIsAnotherCertificateAndTheSameOneIsNot() throws Exception {
    Path file = file(response(serial, GOOD, FUTURE));
    ServerCertificate before = plain.stapled(file);
    assertThat(plain.stapled(file)).isEqualTo(before).isNotEqualTo(plain);
    Files.write(file, response(serial, GOOD, "20990102030406Z"));
    assertThat(plain.stapled(file)).isNotEqualTo(before);
  }

  @Test
  void whatIsOfNoUseIsRefusedWithAReason() throws Exception {
    isRefused(response(serial.add(BigInteger.ONE), GOOD, FUTURE), "it is for another certificate");
    isRefused(response(serial, REVOKED, FUTURE), "the certificate is revoked");
    isRefused(response(serial, UNKNOWN, FUTURE), "the certificate is unknown");
    isRefused(Der.sequence(Der.element(0x0a, new byte[] {6})), "the authority refused to answer");
    isRefused(new byte[70_000], "larger than any OCSP response");
    isRefused(
        "-----BEGIN OCSP RESPONSE-----".getBytes(StandardCharsets.US_ASCII),
        "no OCSP response to use");
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> plain.stapled(directory.resolve("none.der")))
        .withMessageEndingWith("none.der: no such file");
  }

  private void isRefused(byte[] octets, String why) throws IOException {
    Path file = file(octets);
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> plain.stapled(file))
        .withMessageContaining(why);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 31})
  void aResponseThatIsCutOrSpoiledNeverDoesMoreThanBeRefused(int step) throws Exception {
    byte[] good = response(serial, GOOD, FUTURE);
    for (int i = 0; i < good.length; i += step) {
      byte[] spoiled = good.clone();
      spoiled[i] ^= (byte) 0x55;
      for (byte[] octets : List.of(Arrays.copyOf(good, i), spoiled)) {
        try {
          plain.stapled(file(octets));
        } catch (IOException refused) {
          assertThat(refused).hasMessageContaining("ocsp.der");
        }
      }
    }
  }
}
