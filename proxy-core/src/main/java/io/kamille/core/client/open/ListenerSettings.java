package io.kamille.core.client.open;

import io.kamille.core.client.HttpsPolicy;
import io.kamille.core.gate.AccessList;
import io.kamille.core.gate.TrustedProxies;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueTypes;
import io.kamille.core.tls.Challenges;
import io.kamille.core.tls.TlsSettings;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One address that clients connect to.
 *
 * @param name what logs and metrics call it
 * @param access which clients may connect
 * @param trustedProxies who may say whose requests they send
 * @param redirectPort of the listener for HTTPS that requests are sent to; 0 for none
 * @param protocols null for what suits a listener with TLS, or one without
 */
public record ListenerSettings(
    HostPort address,
    String name,
    AccessList access,
    @Nullable Protocols protocols,
    TlsSettings tls,
    ProxyProtocolSettings proxyProtocol,
    TrustedProxies trustedProxies,
    int redirectPort) {

  /** What a bare value stands for. */
  public static final Setting<HostPort> ADDRESS =
      Setting.of(
              "address",
              ValueTypes.address(),
              "The address to listen on, and the name in logs and metrics: `127.0.0.1:8080`,"
                  + " `[::1]:8080`, or `:8080` for all interfaces. Port 0 takes a free port.")
          .appliesOnRestart();

  /** How the listener speaks TLS. */
  public static final Subsection<TlsSettings> TLS =
      TlsSettings.SECTION
          .one(
              "tls",
              "TLS of this listener. A bare `acme` gets certificates by itself; see"
                  + " [certificates](../operations/acme.md). A bare `self-signed` makes one at"
                  + " start, to try Kamille.")
          .withShorthand(TlsSettings.SOURCE);

  /** Whether load balancers say whose connection they hand on. */
  public static final Subsection<ProxyProtocolSettings> PROXY_PROTOCOL =
      ProxyProtocolSettings.SECTION.one(
          "proxy-protocol",
          "Whether load balancers in front of this listener name the client by the PROXY"
              + " protocol.");

  /** Whether proxies say whose requests they send. */
  public static final Subsection<TrustedProxies> TRUSTED_PROXIES =
      TrustedProxies.SECTION.one(
          "trusted-proxies",
          "Proxies in front of this listener that name the client by a field of each request; see"
              + " [behind a CDN](../operations/behind-a-cdn.md).");

  /** Where requests in clear text are sent to. */
  public static final Setting<Integer> REDIRECT =
      Setting.of(
              "redirect-to-https",
              ValueTypes.orWord("off", 0, ValueTypes.wholeNumber(1, 65_535)),
              "The port of HTTPS, mostly 443: each request is answered by a redirect (308) to"
                  + " the same host and path there, unless a trusted proxy says that the request"
                  + " came by HTTPS. Requests below"
                  + " `/.well-known/acme-challenge/` take their route, unless Kamille itself"
                  + " awaits them.")
          .defaultsTo(0)
          .into("redirectPort")
          .appliesOnRestart();

  public static final Section<ListenerSettings> SECTION =
      Section.of(
          ListenerSettings.class,
          ADDRESS,
          Row.derived(listener -> listener.value(ADDRESS).toString()),
          AccessList.SECTION.one(
              "access",
              "Which clients, or proxies in front of them, may connect. The connection of another"
                  + " is closed as soon as it is accepted. Connections that are open when this"
                  + " changes stay."),
          Setting.of(
                  "protocols",
                  Protocols.TYPE,
                  "Versions of HTTP that are spoken: `h2`, `http/1.1`, or both. With TLS, ALPN"
                      + " chooses one. In clear text, `h2` is for clients that know beforehand, and"
                      + " is written `h2c`.")
              .orElse("`h2, http/1.1` with TLS, `http/1.1` without.")
              .appliesOnRestart(),
          TLS,
          PROXY_PROTOCOL,
          TRUSTED_PROXIES,
          REDIRECT);

  HttpsPolicy httpsPolicy(@Nullable Challenges challenges) {
    return HttpsPolicy.of(redirectPort, tls.isOn() ? tls.hsts() : Duration.ZERO, challenges);
  }

  /** What is spoken. */
  public Protocols spoken() {
    if (protocols != null) {
      return protocols;
    }
    return tls.isOn() ? Protocols.BOTH : Protocols.H1;
  }
}
