// Stand-in for a header of gloo; rendezvous/store.h says why.
#pragma once
