package io.kamille.launcher.chain;

import io.kamille.core.gate.RouteGate;

/** What is shed while the process is overloaded. */
record OverloadStation() implements Station.Gate {

  @Override
  public String describe() {
    return "overload";
  }

  @Override
  public RouteGate gate(Link link) {
    return link.parts().overload();
  }

  @Override
  public void judge(Passage passage) {
    // It hangs on the moment, and not on the request.
  }

  @Override
  public void judgeResponse(Passage passage) {}
}
