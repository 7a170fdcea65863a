package io.kamille.launcher.acme;

import io.kamille.launcher.acme.Issuer.Refusal;

/** What an operator does about a refusal. Stateless; any thread. */
final class Advice {

  private Advice() {}

  /** The authority's own words, and ours behind them. */
  static String of(Refusal refusal, Way challenge, String name) {
    String port = challenge == Way.HTTP_01 ? "80" : "443";
    String advice =
        switch (refusal.type) {
          case "connection" ->
              "port "
                  + port
                  + " of "
                  + name
                  + " does not lead to this machine: a firewall, or an"
                  + " AAAA record that leads elsewhere";
          case "unauthorized", "incorrectResponse", "tls" ->
              challenge == Way.DNS_01
                  ? "the TXT record is not what the hook was given, or not visible yet"
                  : "another server answers for " + name + " at port " + port;
          case "dns" -> "the name has no address that the authority can find";
          case "caa" -> "a CAA record of " + name + " forbids this authority";
          case "rateLimited" -> "revoking does not help; wait";
          case "externalAccountRequired" -> "set acme.account-binding";
          case "userActionRequired" -> "agree to the new terms, then reload";
          case "rejectedIdentifier" -> "the authority issues nothing for this name";
          case Refusal.UNREACHABLE -> "is the way out to the authority open?";
          case Refusal.LOCAL -> "see to the state directory or the hook";
          default -> "";
        };
    String said = refusal.type + ": " + refusal.detail;
    return advice.isEmpty() ? said : said + " (" + advice + ")";
  }
}
