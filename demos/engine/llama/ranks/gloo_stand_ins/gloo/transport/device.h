// Stand-in for a header of gloo; rendezvous/store.h says why.
#pragma once

namespace gloo::transport {

class Device;
class UnboundBuffer;

}  // namespace gloo::transport
