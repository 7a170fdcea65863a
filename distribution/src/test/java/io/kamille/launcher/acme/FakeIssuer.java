package io.kamille.launcher.acme;

import io.kamille.core.tls.SelfSigned;
import java.math.BigInteger;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.jspecify.annotations.Nullable;

/** An authority without a network: issues by a hand-moved clock, or does what the test wants. */
final class FakeIssuer implements Issuer {

  /** What becomes of an order. */
  interface Answer {
    Issued to(Order order) throws Refusal, InterruptedException;
  }

  final List<Order> orders = new ArrayList<>();
  final List<Instant> moments = new ArrayList<>();
  int questions;
  Answer answer;
  @Nullable Window window;
  private final HandClock clock;

  FakeIssuer(HandClock clock, Duration lifetime) {
    this.clock = clock;
    this.answer = order -> issue(order.name(), clock.instant(), lifetime);
  }

  @Override
  public Issued order(Order order) throws Refusal, InterruptedException {
    orders.add(order);
    moments.add(clock.instant());
    return answer.to(order);
  }

  @Override
  public @Nullable Window window(X509Certificate certificate) {
    questions++;
    return window;
  }

  static Issued issue(String name, Instant from, Duration lifetime) {
    KeyPair keys = SelfSigned.freshKeys();
    return new Issued(List.of(certificate(name, keys, from, from.plus(lifetime))), keys);
  }

  static X509Certificate certificate(String name, KeyPair keys, Instant from, Instant until) {
    try {
      X500Name issuer = new X500Name("CN=Fake");
      var builder =
          new JcaX509v3CertificateBuilder(
              issuer, BigInteger.ONE, Date.from(from), Date.from(until), issuer, keys.getPublic());
      builder.addExtension(
          Extension.subjectAlternativeName,
          false,
          new GeneralNames(new GeneralName(GeneralName.dNSName, name)));
      return new JcaX509CertificateConverter()
          .getCertificate(
              builder.build(
                  new JcaContentSignerBuilder("SHA256withECDSA").build(keys.getPrivate())));
    } catch (Exception impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
