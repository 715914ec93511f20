# An image that has the program and the licences alone and runs it as a user without rights:
#
#     docker build -t toptau . && docker run --rm -v "$PWD:/work" toptau score model.json flows.csv
#
# make dist writes an image with the same content that needs no daemon: toptau-VERSION-oci.tar.
FROM golang:1.26 AS build
WORKDIR /source
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /toptau ./cmd/toptau

FROM scratch
COPY --from=build /toptau /toptau
COPY LICENSE THIRD-PARTY-LICENSES /licenses/
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/toptau"]
